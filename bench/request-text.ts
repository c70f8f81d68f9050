/** Requests as bytes, and the names and contents of all loads. The scripts in lua/ use the same. */

/** A request; `body` is a form. */
export function requestText(method: string, target: string, form?: string): string {
  const head = `${method} ${target} HTTP/1.1\r\nHost: localhost\r\n`
  if (form === undefined) return `${head}\r\n`
  return `${head}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${form.length}\r\n\r\n${form}`
}

/** The loopback address of instance number `index`, unique below 16 million. */
function instanceIp(index: number): string {
  return `127.${1 + ((index >> 16) & 127)}.${(index >> 8) & 255}.${index & 255}`
}

/** A set of instances, `perService` instances in each service. */
export interface InstanceSet {
  readonly base: string
  readonly count: number
  readonly perService: number
  /** Their timeouts are hours, because their expiry is not measured. */
  readonly lasting?: boolean
}

/** The metadata of an instance without its version, and the metadata with long timeouts. report.lua uses the same. */
const ORDINARY = { zone: 'a', 'preserved.register.source': 'SPRING_CLOUD' }
const LASTING = { 'preserved.heart.beat.timeout': '7200000', 'preserved.ip.delete.timeout': '7200000' }

/** The form of a registration, as clients send it. `version` is in the metadata, so another version is a change. */
export function registerForm(set: InstanceSet, index: number, version: number): string {
  const { base, perService, lasting = false } = set
  const metadata = encodeURIComponent(
    JSON.stringify({ version: String(version), ...(lasting ? LASTING : ORDINARY) }),
  )
  return (
    `serviceName=DEFAULT_GROUP%40%40${base}-${Math.floor(index / perService)}&groupName=DEFAULT_GROUP` +
    `&ip=${instanceIp(index)}&port=8080&weight=1.0&enable=true&healthy=true&ephemeral=true&metadata=${metadata}`
  )
}

/** The query of a deregistration. */
export function deregisterQuery({ base, perService }: InstanceSet, index: number): string {
  const service = `DEFAULT_GROUP%40%40${base}-${Math.floor(index / perService)}`
  return `serviceName=${service}&ip=${instanceIp(index)}&port=8080&ephemeral=true`
}

/** The query of a full beat. */
export function beatQuery({ base, perService }: InstanceSet, index: number): string {
  const service = `DEFAULT_GROUP@@${base}-${Math.floor(index / perService)}`
  const beat = {
    cluster: 'DEFAULT',
    ip: instanceIp(index),
    metadata: {},
    port: 8080,
    scheduled: true,
    serviceName: service,
    weight: 1,
  }
  return `serviceName=${encodeURIComponent(service)}&beat=${encodeURIComponent(JSON.stringify(beat))}`
}

const LINE = 'spring.datasource.hikari.maximum-pool-size=20\n'

/** A text of 1,500 bytes that looks like a configuration, different for each version. */
export function configContent(version: number): string {
  return `version=${String(version).padStart(10, '0')}\n${LINE.repeat(33)}`.slice(0, 1_500)
}

/** The query of a read. */
export function readQuery(dataId: string): string {
  return `dataId=${dataId}&group=DEFAULT_GROUP`
}

/** The form of a publish. */
export function publishForm(dataId: string, content: string): string {
  return `dataId=${dataId}&group=DEFAULT_GROUP&content=${encodeURIComponent(content)}`
}
