import { UsageError } from '../../command/command-line.ts'
import { type OldAccess, type OldAnswer, type OldKind, OldServer, type OldAccount } from './old-server.ts'
import type { Dialect } from './dialect.ts'
import { JavaV1 } from './java-v1.ts'
import { JavaV3 } from './java-v3.ts'
import { Pace } from './pace.ts'
import { RNacos } from './r-nacos.ts'
import type { Waiting } from '../waiting.ts'
import { OldWaypost } from './waypost.ts'

/** A server and its kind. */
export interface KnownServer extends OldKind {
  readonly server: OldServer
}

/** The server at an address is of no known kind. */
export class UnknownServerError extends Error {}

/** Finds out which server answers at an address. Rejects if no known server does. */
export async function detectServer(address: string, access: OldAccess): Promise<KnownServer> {
  const tried: string[] = []
  for (const url of basesOf(address)) {
    const server = new OldServer(url, access)
    const found = await kindOf(server, access, tried)
    if (found === undefined) continue
    server.signInBy(found.kind === 'java-3' ? '/v3/auth/user/login' : '/v1/auth/login')
    return { ...found, server }
  }
  throw new UnknownServerError(
    `${address} is no server that this command knows (Nacos, r-nacos, Waypost):\n  ${tried.join('\n  ')}`,
  )
}

/** Without a path the context path of a default installation comes first. */
function basesOf(address: string): string[] {
  const url = URL.canParse(address) ? new URL(address) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new UsageError(
      `the address of a server must be such as http://old:8848/nacos, but is ${JSON.stringify(address)}`,
    )
  if (url.username !== '' || url.password !== '' || url.search !== '')
    throw new UsageError(
      'the address of a server must be without a user, a password and a query: use --username and a prompt',
    )
  const base = address.replace(/\/+$/, '')
  return url.pathname === '/' ? [`${base}/nacos`, base] : [base]
}

async function kindOf(server: OldServer, access: OldAccess, tried: string[]): Promise<OldKind | undefined> {
  const origin = new OldServer(new URL(server.url).origin, access)
  const asked = async (from: OldServer, path: string): Promise<Readonly<Record<string, unknown>>> => {
    const answer = await from.answer(path)
    tried.push(`GET ${from.url}${path} answers ${answer.status}`)
    return fieldsIn(answer)
  }
  const { info } = await asked(origin, '/openapi.json')
  if ((info as { title?: unknown } | undefined)?.title === 'Waypost')
    return { kind: 'waypost', version: versionIn(info as Record<string, unknown>) }
  const admin = (await asked(server, '/v3/admin/core/state'))['data']
  if (isObject(admin) && versionIn(admin) !== null) return { kind: 'java-3', version: versionIn(admin) }
  const version = versionIn(await asked(server, '/v1/console/server/state'))
  if (version !== null) return { kind: javaKind(version), version }
  const { name } = await asked(server, '/v1/ns/operator/switches')
  return name === 'R-NACOS' ? { kind: 'r-nacos', version: null } : undefined
}

function javaKind(version: string): OldKind['kind'] {
  const major = version.split('.')[0]
  return major === '3' ? 'java-3' : major === '2' ? 'java-2' : 'java-1'
}

function versionIn({ version }: Readonly<Record<string, unknown>>): string | null {
  return typeof version === 'string' && version !== '' ? version : null
}

function fieldsIn({ text }: OldAnswer): Readonly<Record<string, unknown>> {
  try {
    const answer: unknown = JSON.parse(text)
    return isObject(answer) ? answer : {}
  } catch {
    return {}
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

/** The calls a second of `--rate`. Throws UsageError for other texts. */
export function rateOf(text: string): number {
  const perSecond = Number(text)
  if (perSecond >= 1 && perSecond <= 10_000) return perSecond
  throw new UsageError(`--rate must be from 1 to 10000 calls a second, but is ${JSON.stringify(text)}`)
}

/** How servers are called. */
interface OpenOptions {
  readonly perSecond: number
  readonly account?: OldAccount | undefined
  readonly waiting: Waiting
}

/** The servers at these addresses, with their kinds. The rate holds for each. */
export async function openServers(
  addresses: readonly string[],
  { perSecond, account, waiting }: OpenOptions,
): Promise<KnownServer[]> {
  const servers: KnownServer[] = []
  for (const address of addresses)
    servers.push(await detectServer(address, { pace: new Pace(perSecond), account, waiting }))
  return servers
}

/** The calls of a server of this kind. */
export function dialectOf({ kind, server }: KnownServer): Dialect {
  if (kind === 'java-3') return new JavaV3(server)
  if (kind === 'waypost') return new OldWaypost(server)
  return kind === 'r-nacos' ? new RNacos(server) : new JavaV1(server)
}
