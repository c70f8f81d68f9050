import type { Identity } from '../core/access/identity.ts'
import type { Action, Resource } from '../core/access/resource.ts'
import { turnOf } from '../core/access/turn-of.ts'
import { auditedItem } from '../core/audit/audited-item.ts'
import { Refusal } from '../core/refusal.ts'
import type { Asker } from '../core/work/fair-queue.ts'

/** The action of an operation, and its kind of resource: known without its input. */
export interface Permission<A extends Action = Action> {
  readonly action: A
  readonly resource:
    | 'config'
    | 'naming'
    | 'namespace'
    | 'operator'
    | 'backup'
    | 'audit'
    | 'access'
    | 'metrics'
    | 'own-account'
    | 'public'
  /** The name that the audit gives to the operation; absent: it only reads. */
  readonly operation?: string
}

/** An action on a resource. */
export interface Touch {
  readonly action: Action
  readonly resource: Resource
}

/** The caller of an operation, whatever the protocol. */
export interface Caller {
  /** The address that history records and logs name. */
  readonly ip: string
  /** ANONYMOUS while nobody has to sign in. */
  readonly identity: Identity
  /** Whether it cannot get an answer any more: then its work ends. Absent: its protocol does not say. */
  readonly isGone?: boolean
}

/** A caller who asks for long work: it takes turns by `turnOf`, and its work ends where it has gone. */
export function askerOf(caller: Caller): Asker {
  return { client: turnOf(caller), isGone: () => caller.isGone === true }
}

/** Decides whether callers may do things. */
export interface Authorisation {
  /** False while everybody may do everything: resources are not even computed then. */
  readonly isOn: boolean
  /** Whether the caller may do this. */
  allows(caller: Caller, action: Action, resource: Resource): boolean
  /** The same for a part of an answer: nobody is refused without it, so nothing is reported. Absent: `allows`. */
  shows?(caller: Caller, action: Action, resource: Resource): boolean
  /**
   * Called when an operation is refused: the Refusal that says why. Without it, `forbidden`. `resource` is absent where
   * the caller has not named it.
   */
  refused?(caller: Caller, action: Action, resource?: Resource): Refusal
}

/**
 * Everybody may do everything except manage users, roles, permissions and keys. A user made now would still
 * be there when authentication is turned on.
 */
export const OPEN: Authorisation = {
  isOn: false,
  allows: (_caller, _action, { kind }) => kind !== 'access',
  refused: () =>
    new Refusal('forbidden', 'Users and keys are managed by administrators who sign in: start with --auth.'),
}

/**
 * The refusal of an action for which the caller has no permission, with the command that gives it. Without a resource it
 * names none: the caller may have named an id alone, and must not learn whose id it is.
 */
export function forbidden(
  { identity }: Pick<Caller, 'identity'>,
  action: Action,
  resource?: Resource,
): Refusal {
  if (resource === undefined || identity.kind !== 'user')
    return new Refusal('forbidden', `The caller is not permitted to ${action} this.`)
  const may = `${identity.username} may not ${action}`
  const kept = keptFor(action, resource)
  if (kept !== undefined) return new Refusal('forbidden', `${may} ${kept}. This is for administrators only.`)
  const named = auditedItem([resource])
  const command = `waypost permission add ROLE ${quoted(named)} ${action.slice(0, 1)}`
  return new Refusal('forbidden', `${may} ${named}. An administrator gives the right: ${command}`)
}

/** How people call a resource that no permission gives; undefined for others. */
function keptFor(action: Action, resource: Resource): string | undefined {
  switch (resource.kind) {
    case 'config':
    case 'service':
    case 'some-configs':
    case 'some-services':
      return undefined
    case 'namespace':
      return action === 'read' ? undefined : `the namespace ${resource.namespaceId}`
    case 'metrics':
      return action === 'read' ? undefined : 'metrics'
    case 'some-namespaces':
      return 'namespaces'
    case 'operator':
      return 'servers, clients and switches'
    case 'backup':
      return 'backups'
    case 'audit':
      return 'the audit'
    case 'access':
      return 'users, roles and permissions'
    case 'own-account':
      return 'this account'
  }
}

/** A word of a shell. */
const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`
