import {
  BEATS,
  type Claim,
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
  /** `beats`, `operator` or `connection ID`; absent for the usual publisher of the kind, null if claims follow it. */
  publisher?: string | null,
  claims?: readonly ClaimText[],
]

type ClaimText = readonly [
  publisher: string,
  weight: number,
  enabled: boolean,
  app: string,
  registered: Metadata,
  healthy: boolean,
]

/** A record as the column `record` holds it: a JSON array of `Parts`. Throws for a weight that JSON cannot hold. */
export function instanceText(record: InstanceRecord): string {
  const { address, ephemeral, publisher, weight, enabled, app, registered, claims } = record
  if (!Number.isFinite(weight)) throw new Error(`The weight ${weight} of an instance cannot be stored`)
  const { ip, port, cluster } = address
  const parts: TextParts = [ip, port, cluster, ephemeral, weight, enabled, app, registered]
  const isUsual = isSamePublisher(publisher, usualPublisher(ephemeral))
  const owner = isUsual ? null : publisherText(publisher)
  if (claims !== undefined) return JSON.stringify([...parts, owner, claims.map(claimText)])
  return JSON.stringify(owner === null ? parts : [...parts, owner])
}

/** The record of an instance from its text, which the checksum of its row covers. */
export function instanceOfText(serial: number, text: string): InstanceRecord {
  const [ip, port, cluster, ephemeral, weight, enabled, app, registered, owner, claims] = JSON.parse(
    text,
  ) as TextParts
  const address = { ip, port, cluster }
  const publisher = typeof owner === 'string' ? publisherOf(owner) : usualPublisher(ephemeral)
  const record = { address, serial, ephemeral, publisher, weight, enabled, registered, app }
  return claims === undefined ? record : { ...record, claims: claims.map(claimOf) }
}

function claimText({ publisher, weight, enabled, app, registered, healthy }: Claim): ClaimText {
  return [publisherText(publisher), weight, enabled, app, registered, healthy]
}

function claimOf([publisher, weight, enabled, app, registered, healthy]: ClaimText): Claim {
  return { publisher: publisherOf(publisher), weight, enabled, app, registered, healthy }
}

function publisherText(publisher: Publisher): string {
  return publisher.kind === 'connection' ? `connection ${publisher.id}` : publisher.kind
}

function publisherOf(text: string): Publisher {
  if (text === 'beats') return BEATS
  return text === 'operator' ? OPERATOR : { kind: 'connection', id: text.slice('connection '.length) }
}
