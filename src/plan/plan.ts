import { hostPort } from '../core/text/ip-address.ts'
/** The version of the format that this program writes and reads (docs/move-plan.md). */
export const PLAN_VERSION = 1

/** The servers and databases that a plan can come from. */
export const SOURCE_KINDS = ['java-1', 'java-2', 'java-3', 'r-nacos', 'waypost', 'mysql'] as const

/** One of {@link SOURCE_KINDS}. */
export type SourceKind = (typeof SOURCE_KINDS)[number]

/** The source of the lines of a plan. */
export interface PlanSource {
  /** Its address, without a user or a password. */
  readonly url: string
  readonly kind: SourceKind
  /** The version that it reports; null without one. */
  readonly version: string | null
}

/** The first line: the facts of the file. Every call of an apply begins with it. */
export interface PlanHead {
  readonly kind: 'plan'
  readonly format: number
  /** When the reading began, epoch ms. */
  readonly madeMs: number
  readonly sources: readonly PlanSource[]
  /** How many lines of each kind there are. */
  readonly counts: Readonly<Record<string, number>>
  /**
   * The latest time of the sources' clocks when the reading ends, epoch ms; 0: no clock was seen. Their lists are not
   * newer.
   */
  readonly lastRefMs: number
  /** When the reading ended, on the clock of the reader, epoch ms; 0: not known. */
  readonly endedMs: number
}

/** A namespace of the list. `public` is not among them. */
export interface PlanNamespace {
  readonly kind: 'namespace'
  readonly id: string
  readonly name: string
  readonly desc: string
}

/** The names of a configuration item. The id of the default namespace is empty. */
export interface PlanItem {
  readonly namespace: string
  readonly group: string
  readonly dataId: string
}

/** A content, as text, with its metadata at the source. */
export interface PlanContent {
  readonly content: string
  /** The md5 by the source. It may cover other bytes, have 31 digits or be null: the server computes its own. */
  readonly md5: string | null
  /** The key of an item that clients decrypt; otherwise empty. */
  readonly encryptedDataKey: string
  readonly appName: string
}

/** The current version of an item. Null: the source has no such note. */
export interface PlanConfig extends PlanItem, PlanContent {
  readonly kind: 'config'
  readonly type: string | null
  readonly desc: string | null
  readonly use: string | null
  readonly effect: string | null
  readonly schema: string | null
  /** Separated by commas. */
  readonly tags: string | null
  /** Epoch ms; null: not known. */
  readonly createdMs: number | null
  readonly modifiedMs: number | null
  /** The author of this version. */
  readonly user: string | null
  readonly ip: string | null
}

/**
 * A record of an item's history. `I` has the text of the first publish. `U` and `D` have the text BEFORE the change; `user`,
 * `ip` and `atMs` belong to the change.
 */
export interface PlanHistory extends PlanItem, PlanContent {
  readonly kind: 'history'
  /** The id of the record at the source: digits. It may exceed 2^53. */
  readonly oldId: string
  readonly op: 'I' | 'U' | 'D'
  /** Null if the source's history has no type. */
  readonly type: string | null
  /** Epoch ms. */
  readonly atMs: number
  readonly user: string | null
  readonly ip: string | null
}

/** A beta, tag or other gray version of an item. */
export interface PlanGray extends PlanItem, PlanContent {
  readonly kind: 'gray'
  /** `beta`, `tag_NAME` or another name. */
  readonly name: string
  /** `beta`, `tag` or another type. */
  readonly rule: string
  /** Addresses separated by commas, a tag, or the expression of another rule. */
  readonly expression: string
  readonly priority: number | null
  readonly modifiedMs: number | null
}

/** A health checker as servers write it: `type`, and fields that depend on it. */
export interface PlanChecker {
  readonly type: string
  readonly [field: string]: unknown
}

/** A cluster of a service. */
export interface PlanCluster {
  readonly name: string
  readonly checker: PlanChecker
  readonly checkPort: number
  readonly useInstancePort: boolean
  readonly metadata: Readonly<Record<string, string>>
}

/** A service, without its instances. */
export interface PlanService {
  readonly kind: 'service'
  readonly namespace: string
  readonly group: string
  readonly name: string
  readonly protectThreshold: number
  readonly selector: { readonly type: string; readonly expression: string }
  readonly metadata: Readonly<Record<string, string>>
  readonly clusters: readonly PlanCluster[]
  /** Null if the source does not report it, and no instance shows it. */
  readonly ephemeral: boolean | null
}

/** An instance. Persistent ones are imported; ephemeral ones only in a warm swap. */
export interface PlanInstance {
  readonly kind: 'instance'
  readonly namespace: string
  readonly group: string
  readonly service: string
  readonly cluster: string
  readonly ip: string
  readonly port: number
  readonly ephemeral: boolean
  readonly weight: number
  readonly enabled: boolean
  readonly healthy: boolean
  readonly metadata: Readonly<Record<string, string>>
  readonly app: string
  /** When it was read, epoch ms. */
  readonly seenMs: number
}

/** A user. */
export interface PlanUser {
  readonly kind: 'user'
  readonly username: string
  /** A bcrypt hash. Null: it cannot come, and a `remark` gives the reason. */
  readonly passwordHash: string | null
  readonly enabled: boolean
}

/** The role of administrators, at the sources as here. */
export const ADMINISTRATOR_ROLE = 'ROLE_ADMIN'

/** A user has a role. */
export interface PlanRole {
  readonly kind: 'role'
  readonly username: string
  readonly role: string
}

/** A permission of a role. */
export interface PlanPermission {
  readonly kind: 'permission'
  readonly role: string
  /** As the source has it: `namespace:group:type/name`, with `*`. */
  readonly resource: string
  readonly action: 'r' | 'w' | 'rw'
}

/** A system switch that differs from its default, and applies here. */
export interface PlanSwitch {
  readonly kind: 'switch'
  readonly name: string
  /** The text that sets it: the value for `entry` and `value` of the operation. */
  readonly value: string
}

/** The kinds of lines about other lines or things. An apply does not send them. */
export const NOTE_KINDS = ['conflict', 'cannot-come', 'remark'] as const

/**
 * `conflict`: the sources disagree, and the reason says which one the plan follows. `cannot-come`: the thing is in no line.
 * `remark`: it comes, but not quite as it was.
 */
export interface PlanNote {
  readonly kind: (typeof NOTE_KINDS)[number]
  /** The kind of the thing. */
  readonly about: string
  /** Its name, for people. */
  readonly name: string
  readonly reason: string
  /** The thing should come and does not. Otherwise it stays behind by rule, or it comes. */
  readonly missed?: boolean | undefined
}

/** A line that an apply sends. */
export type PlanThing =
  | PlanNamespace
  | PlanHistory
  | PlanConfig
  | PlanGray
  | PlanService
  | PlanInstance
  | PlanUser
  | PlanRole
  | PlanPermission
  | PlanSwitch

/** The last line: a plan without it is cut. Other lines may be taken out by hand. */
export interface PlanEnd {
  readonly kind: 'end'
}

/** A line of a plan. */
export type PlanLine = PlanHead | PlanThing | PlanNote | PlanEnd

/**
 * The kinds that an apply sends. The records of an item come before the item, by old id, so that new ids rise like the
 * old ones. Gray versions come after their item, and instances after their service.
 */
export const THING_KINDS: readonly PlanThing['kind'][] = [
  'namespace',
  'switch',
  'user',
  'role',
  'permission',
  'history',
  'config',
  'gray',
  'service',
  'instance',
]

/** Whether an apply sends the line. */
export function isThing(line: PlanLine): line is PlanThing {
  return (THING_KINDS as readonly string[]).includes(line.kind)
}

/** The name of a thing for people, in notes and outcomes. */
export function nameOf(thing: PlanThing): string {
  switch (thing.kind) {
    case 'namespace':
      return thing.id
    case 'switch':
      return thing.name
    case 'user':
      return thing.username
    case 'role':
      return `${thing.username} ${thing.role}`
    case 'permission':
      return `${thing.role} ${thing.resource} ${thing.action}`
    case 'config':
      return itemName(thing)
    case 'history':
      return `${itemName(thing)} ${thing.oldId}`
    case 'gray':
      return `${itemName(thing)} ${thing.name}`
    case 'service':
      return `${thing.namespace || 'public'}/${thing.group}@@${thing.name}`
    case 'instance':
      return `${thing.namespace || 'public'}/${thing.group}@@${thing.service} ${hostPort(thing.ip, thing.port)}#${thing.cluster}`
  }
}

/** The name of an item for people. */
export function itemName({ namespace, group, dataId }: PlanItem): string {
  return `${namespace || 'public'}/${group}/${dataId}`
}
