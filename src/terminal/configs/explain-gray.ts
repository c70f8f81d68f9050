import type { ExplainedView } from '../answers.ts'
import { type CommandResult, listed } from '../../command/command-line.ts'
import { requireAddress } from '../server-options.ts'
import { clientOf } from '../session-of-flags.ts'
import { type ItemFlags, itemOf, itemParams } from './item.ts'

/** The flags of `config gray explain`: the facts about the client. */
export interface GrayExplainFlags extends ItemFlags {
  readonly ip?: string
  readonly tag?: string
  readonly labels?: string
}

/** A version of an item, and whether the client gets it. The formal version has no kind, and is for all. */
interface ExplainedLine {
  readonly version: string
  readonly grayType: string | null
  readonly grayMatchRuleExp: string | null
  readonly grayPriority: number | null
  readonly md5: string | null
  readonly gets: boolean
  readonly why: string
}

type ExplainedVersion = ExplainedView['versions'][number]

/** `config gray explain`: the versions in the order of checking, the formal version last. */
export async function explainGray(flags: GrayExplainFlags, word: string): Promise<CommandResult> {
  const client = clientOf(flags)
  const { ip, tag, labels } = flags
  requireAddress(ip)
  const name = itemParams(client, itemOf(word, flags))
  const view = await client.get<ExplainedView>('/cs/configs/gray/explain', { ...name, ip, tag, labels })
  // The server refuses to read an item that it does not have.
  if (view.versions.length === 0) await client.get('/cs/configs', { ...name, show: 'all' })
  return listed<ExplainedLine>(
    [...view.versions.map((version) => lineOf(version, view.grayName)), formalLine(view)],
    [
      ['VERSION', ({ version }) => version],
      ['GIVEN OUT', ({ gets }) => (gets ? 'yes' : 'no')],
      ['WHY', ({ why }) => why],
      ['KIND', ({ grayType }) => grayType],
      ['FOR', ({ grayMatchRuleExp }) => grayMatchRuleExp],
      ['PRIORITY', ({ grayPriority }) => grayPriority],
      ['MD5', ({ md5 }) => md5],
    ],
    ({ version }) => version,
  )
}

function lineOf(version: ExplainedVersion, seen: string | null): ExplainedLine {
  const { grayName, grayType, grayMatchRuleExp, grayPriority, md5 } = version
  const gets = grayName === seen
  return {
    version: grayName,
    grayType,
    grayMatchRuleExp,
    grayPriority,
    md5,
    gets,
    why: `${whyOf(version, gets)}${neededOf(version)}`,
  }
}

function whyOf({ isForClient }: ExplainedVersion, gets: boolean): string {
  if (gets) return 'it is for the client'
  return isForClient ? 'another one comes before' : 'not for the client'
}

const neededOf = ({ neededShare }: ExplainedVersion): string =>
  neededShare === null ? '' : `, who is in a share of ${neededShare} or more`

function formalLine({ md5, grayName }: ExplainedView): ExplainedLine {
  const gets = grayName === null && md5 !== ''
  const why =
    grayName !== null
      ? 'a gray version comes before'
      : gets
        ? 'no gray version is for the client'
        : 'there is none'
  const none = { grayType: null, grayMatchRuleExp: null, grayPriority: null }
  return { version: 'formal', ...none, md5: gets ? md5 : null, gets, why }
}
