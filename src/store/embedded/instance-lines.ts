import {
  BEATS,
  type InstanceRecord,
  isSamePublisher,
  type Metadata,
  OPERATOR,
  type Publisher,
  usualPublisher,
} from '../../core/naming/instance.ts'

// A change of an instance is one line of UTF-8, words between spaces, ended by a newline:
//   e SERIAL SERVICE HEALTH PARTS   an ephemeral instance is there, with all that is known of it
//   p SERIAL SERVICE HEALTH PARTS   a persistent one is there
//   x SERIAL                        it is gone
//   h SERIAL HEALTH                 its health is another one
// SERIAL and SERVICE are numbers, HEALTH is 1, 0, or ? for as it was; PARTS is JSON (`Parts`) and so has no newline.
// Lines on the way to the log may be of any kind. In it stand e, p and x only, and no ?.

/** The parts of a record, without its serial, in the order in which they are written: names would be half of it. */
type Parts = readonly [
  ip: string,
  port: number,
  cluster: string,
  ephemeral: boolean,
  weight: number,
  enabled: boolean,
  app: string,
  registered: Metadata,
  /** `beats`, `operator` or `connection ID`; absent for the usual publisher of the kind. */
  publisher?: string,
]

/** The kinds of lines, as the byte that a line begins with. */
const EPHEMERAL = byteOf('e')
export const PERSISTENT = byteOf('p')
export const GONE = byteOf('x')
export const HEALTH = byteOf('h')

const UNKNOWN_HEALTH = byteOf('?')
const SPACE = byteOf(' ')
const NEWLINE = byteOf('\n')
const ZERO = byteOf('0')

/** Where a line stands in the bytes that it was found in. */
export interface Line {
  readonly bytes: Buffer
  readonly start: number
  /** Past its newline. */
  readonly end: number
  readonly kind: number
  readonly serial: number
}

/** An instance as its line says. */
export interface LineInstance {
  readonly serviceSerial: number
  readonly healthy: boolean
  readonly record: InstanceRecord
}

/** The line of an instance that is there; `healthy` undefined: as it was. Throws for a weight that JSON cannot say. */
export function savedLine(
  record: InstanceRecord,
  serviceSerial: number,
  healthy: boolean | undefined,
): string {
  const { serial, ephemeral } = record
  const health = healthy === undefined ? '?' : Number(healthy)
  return `${ephemeral ? 'e' : 'p'} ${serial} ${serviceSerial} ${health} ${partsText(record)}\n`
}

/** The line of an instance that is gone. */
export function goneLine(serial: number): string {
  return `x ${serial}\n`
}

/** The line of an instance whose health has changed. */
export function healthLine(serial: number, healthy: boolean): string {
  return `h ${serial} ${Number(healthy)}\n`
}

/** The lines in some bytes, which hold whole ones. */
export function* linesIn(bytes: Buffer): Generator<Line> {
  for (let start = 0; start < bytes.length;) {
    const end = bytes.indexOf(NEWLINE, start) + 1
    if (end === 0) throw new Error('A line of the instance log has no end')
    yield { bytes, start, end, kind: bytes[start] ?? 0, serial: numberAt(bytes, start + 2) }
    start = end
  }
}

/** The text of a line. */
export function lineText({ bytes, start, end }: Line): string {
  return bytes.toString('utf8', start, end)
}

/** Whether a line says that an instance is there. */
export function isSaved({ kind }: Line): boolean {
  return kind === EPHEMERAL || kind === PERSISTENT
}

/** The health that a line says; undefined where it is as it was. */
export function healthOf(line: Line): boolean | undefined {
  const health = line.bytes[healthAt(line)]
  return health === UNKNOWN_HEALTH ? undefined : health !== ZERO
}

/** A line of a kind that says health, with that one. */
export function withHealth(line: Line, healthy: boolean): Line {
  const bytes = Buffer.from(line.bytes.subarray(line.start, line.end))
  bytes[healthAt(line) - line.start] = ZERO + Number(healthy)
  return { ...line, bytes, start: 0, end: bytes.length }
}

/** The service of an instance that is there. */
export function serviceSerialOf({ bytes, start }: Line): number {
  return numberAt(bytes, bytes.indexOf(SPACE, start + 2) + 1)
}

/** The instance from the text of a line that says that it is there; our own, and checked by the checksum of its pack. */
export function instanceOfLine(line: string): LineInstance {
  const serialEnd = line.indexOf(' ', 2)
  const serviceEnd = line.indexOf(' ', serialEnd + 1)
  const [ip, port, cluster, ephemeral, weight, enabled, app, registered, publisherText] = JSON.parse(
    line.slice(serviceEnd + 3),
  ) as Parts
  const address = { ip, port, cluster }
  const serial = Number(line.slice(2, serialEnd))
  const publisher = publisherText === undefined ? usualPublisher(ephemeral) : publisherOf(publisherText)
  return {
    serviceSerial: Number(line.slice(serialEnd + 1, serviceEnd)),
    healthy: line[serviceEnd + 1] !== '0',
    record: { address, serial, ephemeral, publisher, weight, enabled, registered, app },
  }
}

function partsText(record: InstanceRecord): string {
  const { address, ephemeral, publisher, weight, enabled, app, registered } = record
  if (!Number.isFinite(weight)) throw new Error(`The weight ${weight} of an instance cannot be stored`)
  const { ip, port, cluster } = address
  const parts: Parts = [ip, port, cluster, ephemeral, weight, enabled, app, registered]
  const isUsual = isSamePublisher(publisher, usualPublisher(ephemeral))
  return JSON.stringify(isUsual ? parts : [...parts, publisherText(publisher)])
}

function publisherText(publisher: Publisher): string {
  return publisher.kind === 'connection' ? `connection ${publisher.id}` : publisher.kind
}

function publisherOf(text: string): Publisher {
  if (text === 'beats') return BEATS
  return text === 'operator' ? OPERATOR : { kind: 'connection', id: text.slice('connection '.length) }
}

/** Where the health of a line stands. */
function healthAt({ bytes, start, kind }: Line): number {
  const afterSerial = bytes.indexOf(SPACE, start + 2) + 1
  return kind === HEALTH ? afterSerial : bytes.indexOf(SPACE, afterSerial) + 1
}

/** The digits from there on, as a number. */
function numberAt(bytes: Buffer, from: number): number {
  let value = 0
  for (let at = from; ; at++) {
    const digit = (bytes[at] ?? 0) - ZERO
    if (digit < 0 || digit > 9) return value
    value = value * 10 + digit
  }
}

function byteOf(character: string): number {
  return character.charCodeAt(0)
}
