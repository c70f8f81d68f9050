import { serviceNameOf } from '../../core/naming/state/service.ts'
import { withPlainWeight } from './host-json.ts'

/**
 * How an instance list is written. `svc`: the fields of interface.md. `nacos-grouped` and `nacos-bare`: the fields of
 * 1.4 as well, with `dom` and the `serviceName` of hosts (http-compat.md section 1, Instances). The first names the
 * service as `<group>@@<service>`, the second without its group. `nacos-plain`: the fields of 2.x alone. `grpc`: the
 * service info of clients that use gRPC (grpc-compat.md section 3). Its `name` is the name of the service alone, and it
 * has no checksum. All but `svc` write weights as Java does.
 */
export type ListFormat = 'svc' | 'nacos-grouped' | 'nacos-bare' | 'nacos-plain' | 'grpc'

/** Clients of gRPC refuse a message of more than 10 MiB. The message around the list comes on top. */
const MOST_GRPC_BYTES = 10 * 1024 * 1024 - 4_096
/** HTTP has no limit, but nobody reads more. */
const MOST_HTTP_BYTES = 512 * 1024 * 1024

/** The longest list that is answered in a format. */
export function mostBytesOf(format: ListFormat): number {
  return format === 'grpc' ? MOST_GRPC_BYTES : MOST_HTTP_BYTES
}

/** Writes a host in a format. `json` is the host as `grpc` has it; `healthy` is the health that it shows. */
export type WriteHost = (json: string, healthy: boolean) => string

/** How the hosts of a service are written in a format. */
export function hostWriter(format: ListFormat, groupedName: string): WriteHost {
  switch (format) {
    case 'svc':
      return withPlainWeight
    case 'grpc':
    case 'nacos-plain':
      return (json) => json
    case 'nacos-grouped':
      return withHostFields
    case 'nacos-bare': {
      const grouped = member('serviceName', groupedName)
      const bare = member('serviceName', serviceNameOf(groupedName))
      // The first match is the member itself: within a text of JSON a quote has a backslash before it.
      return (json, healthy) =>
        withHostFields(
          json.replace(grouped, () => bare),
          healthy,
        )
    }
  }
}

/** How a list names its service. */
export function listName(format: ListFormat, groupedName: string): string {
  return format === 'grpc' ? serviceNameOf(groupedName) : groupedName
}

/** The members of the list that a format has and `svc` has not, each with a comma before it. */
export function moreListFields(
  format: ListFormat,
  service: { readonly groupedName: string; readonly metadata: Readonly<Record<string, string>> },
): string {
  if (format !== 'nacos-grouped' && format !== 'nacos-bare') return ''
  const { groupedName, metadata } = service
  const dom = member('dom', format === 'nacos-bare' ? serviceNameOf(groupedName) : groupedName)
  return `,${dom},"useSpecifiedURL":false,"env":"","metadata":${JSON.stringify(metadata)}`
}

function withHostFields(json: string, healthy: boolean): string {
  return `${json.slice(0, -1)},"valid":${healthy},"marked":false}`
}

function member(name: string, value: string): string {
  return `"${name}":${JSON.stringify(value)}`
}
