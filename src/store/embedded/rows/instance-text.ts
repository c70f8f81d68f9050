import {
  BEATS,
  type InstanceRecord,
  isSamePublisher,
  type Metadata,
  OPERATOR,
  type Publisher,
  usualPublisher,
} from '../../../core/naming/state/instance.ts'

/** The parts of a record, without its serial, in the order in which they are written: names would be half of the text. */
type TextParts = readonly [
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

/** A record as the column `record` holds it: a JSON array of `Parts`. Throws for a weight that JSON cannot hold. */
export function instanceText(record: InstanceRecord): string {
  const { address, ephemeral, publisher, weight, enabled, app, registered } = record
  if (!Number.isFinite(weight)) throw new Error(`The weight ${weight} of an instance cannot be stored`)
  const { ip, port, cluster } = address
  const parts: TextParts = [ip, port, cluster, ephemeral, weight, enabled, app, registered]
  const isUsual = isSamePublisher(publisher, usualPublisher(ephemeral))
  return JSON.stringify(isUsual ? parts : [...parts, publisherText(publisher)])
}

/** The record of an instance from its text, which the checksum of its row covers. */
export function instanceOfText(serial: number, text: string): InstanceRecord {
  const [ip, port, cluster, ephemeral, weight, enabled, app, registered, publisherText] = JSON.parse(
    text,
  ) as TextParts
  const address = { ip, port, cluster }
  const publisher = publisherText === undefined ? usualPublisher(ephemeral) : publisherOf(publisherText)
  return { address, serial, ephemeral, publisher, weight, enabled, registered, app }
}

function publisherText(publisher: Publisher): string {
  return publisher.kind === 'connection' ? `connection ${publisher.id}` : publisher.kind
}

function publisherOf(text: string): Publisher {
  if (text === 'beats') return BEATS
  return text === 'operator' ? OPERATOR : { kind: 'connection', id: text.slice('connection '.length) }
}
