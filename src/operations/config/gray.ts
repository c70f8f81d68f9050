import { hash } from 'node:crypto'
import type { ConfigItem, ConfigKey } from '../../core/config/state/config-item.ts'
import {
  type ExplainedVersion,
  explainedVersions,
  identityOf,
  seenBy,
  seenGray,
} from '../../core/config/state/config-view.ts'
import type { Viewer } from '../../core/config/state/viewer.ts'
import type { GrayRule } from '../../core/config/state/gray-rule.ts'
import { GRAY, type GrayItem, grayNamed, type GrayVersion } from '../../core/config/state/gray-version.ts'
import { promoteGray, stopGray } from '../../core/config/commands/end-gray.ts'
import { growGray, publishGray } from '../../core/config/commands/publish-gray.ts'
import type { Engine } from '../../core/engine/ports.ts'
import type { State } from '../../core/engine/state.ts'
import { type Caller, forbidden } from '../authorisation.ts'
import type { Guard, Resource } from '../guard.ts'
import { configResource, operatorOf, type PublishRequest, READ_CONFIG, WRITE_CONFIG } from './configs.ts'

interface GrayParts {
  readonly guard: Guard
  readonly state: Pick<State, 'config' | 'gray' | 'record' | 'records'>
  readonly engine: Pick<Engine, 'execute'>
}

/** A text for some clients. The only note that counts is the key of an encrypted content. */
export interface GrayPublishRequest extends PublishRequest {
  readonly name: string
  readonly rule: GrayRule
}

/** A gray version of an item. */
export interface GrayName {
  readonly key: ConfigKey
  readonly name: string
}

/** Which version of an item a client sees, and why. */
export interface ExplainedView {
  /** The md5 of its version; the empty string: it sees nothing. */
  readonly md5: string
  /** The name of the gray version; undefined: it sees the formal one, or nothing. */
  readonly gray: string | undefined
  /** Identifies the client when a version is for a share of clients. */
  readonly identity: string
  readonly versions: readonly ExplainedVersion[]
}

/** A change of a gray version, and who says so. */
export interface GrayRequest extends GrayName {
  /** Only if this is the md5 of the version that is written; absent: whatever it is. */
  readonly casMd5?: string | undefined
  readonly comment?: string | undefined
  readonly srcUser?: string | undefined
}

/** The new clients of a gray version. */
export interface GrowRequest extends GrayRequest {
  readonly expr: string
  readonly priority?: number | undefined
}

/** A gray version with its text, and its item. */
export interface FoundGray {
  readonly version: GrayVersion
  readonly item: ConfigItem
}

/** Makes the operations on gray versions. */
export function grayOperations(parts: GrayParts) {
  return { ...readingOperations(parts), ...writingOperations(parts) }
}

function readingOperations({ guard, state }: GrayParts) {
  const resources = ({ key }: { key: ConfigKey }) => [configResource(key)]
  return {
    /** The gray version of this name with its text, or undefined. */
    find: guard.operation({
      permission: READ_CONFIG,
      resources,
      run: ({ key, name }: GrayName): FoundGray | undefined => {
        const version = grayNamed(state.record(GRAY, key.text), name)
        if (version === undefined) return undefined
        return { version, item: seenGray(state, { key, formal: state.config(key), version }) }
      },
    }),
    /** The gray versions of an item, in the order in which their rules are tried. */
    of: guard.operation({
      permission: READ_CONFIG,
      resources,
      run: ({ key }: { key: ConfigKey }): readonly GrayVersion[] =>
        state.record(GRAY, key.text)?.versions ?? [],
    }),
    /** Which version a client sees, and why: whether it is there or not. */
    explain: guard.operation({
      permission: READ_CONFIG,
      resources,
      run: ({ key, who }: { key: ConfigKey; who: Viewer }): ExplainedView => {
        const versions = explainedVersions(state.record(GRAY, key.text), who)
        const { md5, gray } = seenBy(state, key, who)
        return { md5, gray, identity: identityOf(who), versions }
      },
    }),
    /** All items with gray versions, of a namespace or of all, that the caller may read. */
    out: guard.listing({
      permission: READ_CONFIG,
      scope: ({ namespaceId }: { namespaceId: string | undefined }): Resource => {
        return { kind: 'some-configs', namespaceId }
      },
      // Those of all namespaces come in the order of their releases, too.
      find: ({ namespaceId }): GrayItem[] =>
        namespaceId === undefined
          ? Array.from(state.records(GRAY), ([, item]) => item)
          : Array.from(state.gray.inNamespace(namespaceId)),
      resource: ({ key }) => configResource(key),
      run: (items) => items,
    }),
  }
}

function writingOperations({ guard, engine }: GrayParts) {
  const resources = ({ key }: { key: ConfigKey }) => [configResource(key)]
  const permission = WRITE_CONFIG
  return {
    /** Publishes a text for some clients. Refusals `gray-rule`, `gray-too-many`, `config-changed`, `content-memory`. */
    publish: guard.operation({
      permission,
      audit: { operation: 'publish gray config' },
      resources,
      run: (request: GrayPublishRequest, caller) => {
        const { content, notes, srcUser, ...same } = request
        const md5 = hash('md5', content, 'hex')
        const encryptedDataKey = notes.encryptedDataKey ?? ''
        const operator = operatorOf(caller, srcUser)
        return engine.execute(publishGray({ ...same, content, md5, encryptedDataKey, operator }))
      },
    }),
    /** Gives a gray version to other clients. Refusals `gray-not-found`, `gray-rule`; for readers of the item. */
    grow: guard.operation({
      permission,
      audit: { operation: 'grow gray config' },
      resources,
      run: ({ srcUser, ...same }: GrowRequest, caller) => {
        requireReader(guard, same.key, caller)
        return engine.execute(growGray({ ...same, operator: operatorOf(caller, srcUser) }))
      },
    }),
    /** Gives the text of a gray version to all, and ends all gray versions. Refusals `gray-not-found`, `config-changed`. */
    promote: guard.operation({
      permission,
      audit: { operation: 'promote gray config' },
      resources,
      run: ({ srcUser, ...same }: GrayRequest, caller) => {
        requireReader(guard, same.key, caller)
        return engine.execute(promoteGray({ ...same, operator: operatorOf(caller, srcUser) }))
      },
    }),
    /** Ends a gray version, for readers of the item; false if it did not exist. Refusal `config-changed`. */
    stop: guard.operation({
      permission,
      audit: { operation: 'stop gray config' },
      resources,
      run: ({ srcUser, ...same }: GrayRequest, caller) => {
        requireReader(guard, same.key, caller)
        return engine.execute(stopGray({ ...same, operator: operatorOf(caller, srcUser) }))
      },
    }),
  }
}

/**
 * Which gray versions an item has is for its readers: whoever may only write gets one answer for all names. A rule, a
 * digest or a result that depends on a version would tell.
 */
function requireReader(guard: Guard, key: ConfigKey, caller: Caller): void {
  if (!guard.shows(caller, 'read', configResource(key))) throw forbidden(caller, 'read', configResource(key))
}
