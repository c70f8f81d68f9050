import { hostPort } from '../../core/text/ip-address.ts'
import { UsageError } from '../../command/command-line.ts'
import type { Params, SvcClient } from '../session-of-flags.ts'

/** The names of a service in its namespace. */
export interface ServiceName {
  readonly groupName: string
  readonly serviceName: string
}

const SEPARATOR = '@@'
const DEFAULT_GROUP = 'DEFAULT_GROUP'

/** The service that a word names: `NAME`, or `GROUP@@NAME` as lists print it. */
export function serviceOf(word: string, { group }: { readonly group?: string }): ServiceName {
  const at = word.indexOf(SEPARATOR)
  if (at === -1) return { groupName: group ?? DEFAULT_GROUP, serviceName: word }
  const groupName = word.slice(0, at)
  if (group !== undefined && group !== groupName)
    throw new UsageError(`${JSON.stringify(word)} names another group than --group ${group}`)
  return { groupName, serviceName: word.slice(at + SEPARATOR.length) }
}

/** As lists print it. */
export function serviceText({ groupName, serviceName }: ServiceName): string {
  return groupName + SEPARATOR + serviceName
}

/** The parameters that name a service. */
export function serviceParams(client: SvcClient, name: ServiceName): Params {
  return { namespaceId: client.namespace || 'public', ...name }
}

/** An address as users type it: IPv6 in brackets. */
export function addressText({ ip, port }: { readonly ip: string; readonly port: number }): string {
  return hostPort(ip, port)
}

/** The address that a word names. Throws UsageError for another text. */
export function addressOf(word: string): { readonly ip: string; readonly port: number } {
  const [, bracketed, plain, port] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(word) ?? []
  const ip = bracketed ?? plain
  if (ip === undefined) throw new UsageError(`${JSON.stringify(word)} is no address: IP:PORT`)
  return { ip, port: Number(port) }
}
