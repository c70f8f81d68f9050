import { hostPort } from '../../text/ip-address.ts'
import {
  fieldsOf,
  number,
  numberIn,
  object,
  type Shape,
  ShapeError,
  text,
  textIn,
} from '../../records/shape.ts'
import { defineRecordKind } from '../../records/record-kind.ts'
import type { MemoryLimits } from '../../records/memory-limits.ts'
import type { RecordView } from '../../records/record-tables.ts'
import { type MemberVersions, versionsIn } from './versions.ts'

/** The facts that a member publishes about itself. */
export interface MemberFacts {
  /** The address for clients and operators. */
  readonly ip: string
  readonly port: number
  /** The port of the same address on which the other members reach it. */
  readonly peerPort: number
  readonly site: string
  readonly version: string
  /** Names this process: no other one has the same name. A restarted server is another process. */
  readonly process: string
  /** Whether callers must sign in: `on`, `off` or `report`. It is the same on all members. */
  readonly auth: string
  readonly versions: MemberVersions
  /** The ids of its keys for secrets, the one for new secrets first; absent: no key. */
  readonly secretsKeys?: readonly string[]
  /** How much memory the data may take there; absent: a version that does not say. The smallest counts for all. */
  readonly memory?: MemoryLimits
}

/**
 * The live members. A member is there for as long as it holds its lease; the store removes it with the lease. The id is
 * {@link memberIdOf}. To have read all records of this kind is to have read who the members are.
 */
export const MEMBER = defineRecordKind<MemberFacts>('member', (json) => {
  const fields = fieldsOf(json)
  return {
    ip: textIn(fields, 'ip'),
    port: numberIn(fields, 'port'),
    peerPort: numberIn(fields, 'peerPort'),
    site: textIn(fields, 'site'),
    version: textIn(fields, 'version'),
    process: textIn(fields, 'process'),
    auth: textIn(fields, 'auth'),
    versions: versionsIn(fields['versions']),
    ...secretsKeysIn(fields['secretsKeys']),
    ...memoryIn(fields['memory']),
  }
})

function secretsKeysIn(json: unknown): Pick<MemberFacts, 'secretsKeys'> {
  return Array.isArray(json) ? { secretsKeys: json.map(String) } : {}
}

/** The elected member, for as long as it holds its lease. */
export interface Elected {
  /** Its member id. */
  readonly member: string
  /** Rises with every election. */
  readonly term: number
}

/** The elected member; the id of the only record is {@link ELECTED}. */
export const ELECTION = defineRecordKind<Elected>('election', object({ member: text, term: number }))

/** The id of the record of {@link ELECTION}. */
export const ELECTED = 'elected'

/** No server has less than nothing. */
const bytes: Shape<number> = (value) => {
  if (number(value) >= 0) return number(value)
  throw new ShapeError('must be a number of bytes')
}

function memoryIn(json: unknown): Pick<MemberFacts, 'memory'> {
  if (json === undefined) return {}
  const budget = object<MemoryLimits>({ heapBytes: bytes, memoryBytes: bytes, contentBytes: bytes })
  return { memory: budget(json) }
}

/** The id of a member: `<ip>:<port>`. */
export function memberIdOf({ ip, port }: Pick<MemberFacts, 'ip' | 'port'>): string {
  return hostPort(ip, port)
}

/** The ids of the live members, sorted. */
export function memberIds(view: RecordView): string[] {
  return Array.from(view.records(MEMBER), ([id]) => id).sort()
}
