import { UsageError } from '../command/command-line.ts'
import { reach } from './no-answer.ts'
import type { Target } from './session-of-flags.ts'

/** A content, and the names of its item. */
interface Sized {
  readonly group: string
  readonly dataId: string
  readonly bytes: number
}

/** Throws UsageError that names each content that is larger than the server says that it takes. */
export async function requireSizes(
  server: Pick<Target, 'url' | 'origin'>,
  contents: readonly Sized[],
): Promise<void> {
  const most = await contentLimitOf(server)
  const large = contents.filter(({ bytes }) => bytes > most)
  if (large.length === 0) return
  const names = large.map(({ group, dataId, bytes }) => `${group}/${dataId} has ${bytes} bytes.`)
  throw new UsageError(
    `${names.join('\n')}\nNothing was changed: ${server.url} takes at most ${most} bytes in one content (max-content).`,
  )
}

/** The limit of the server, which it tells everybody; without an answer of that form none is known. */
async function contentLimitOf({ url, origin }: Pick<Target, 'url' | 'origin'>): Promise<number> {
  const response = await reach(url, '/nacos/v1/console/server/state', { origin })
  const limit = /"maxContent":"(\d+)"/.exec(await response.text())?.[1]
  return limit === undefined ? Infinity : Number(limit)
}
