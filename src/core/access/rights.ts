import type { ConfigKey } from '../config/state/config-item.ts'
import { groupOf, type ServiceKey, serviceNameOf } from '../naming/state/service.ts'
import type { RecordKind } from '../records/record-kind.ts'
import type { RecordView } from '../records/record-tables.ts'
import { ADMINISTRATOR_ROLE, ROLE_PERMISSION, type RolePermission, USER_ROLE } from './access-records.ts'
import type { Action, Resource } from './resource.ts'
import { type ResourcePattern, resourcePatternOf } from './resource-pattern.ts'
import { RuleTree } from './rule-tree.ts'

/** The rights of a user. */
export interface Rights {
  readonly isAdministrator: boolean
  allows(action: Action, resource: Resource): boolean
}

/** Records, and a number for each kind that every change of it raises. */
export interface AccessRecords extends RecordView {
  recordVersion(kind: RecordKind<unknown>): number
}

/** The rights of each user, computed on first use, and again after each change of roles and permissions. */
export class AllRights {
  readonly #records: AccessRecords
  readonly #known = new Map<string, Rights>()
  #version = -1
  #rolesOf = new Map<string, string[]>()
  #permissionsOf = new Map<string, RolePermission[]>()

  constructor(records: AccessRecords) {
    this.#records = records
  }

  /** The rights of a user. Without roles a user has only the rights of every user. */
  of(username: string): Rights {
    this.#refresh()
    const known = this.#known.get(username)
    if (known !== undefined) return known
    const roles = this.#rolesOf.get(username)
    if (roles === undefined) return NO_ROLES
    const rights = this.#rightsOf(roles)
    this.#known.set(username, rights)
    return rights
  }

  #refresh(): void {
    const records = this.#records
    // Both versions only rise, so the sum changes with either.
    const version = records.recordVersion(USER_ROLE) + records.recordVersion(ROLE_PERMISSION)
    if (version === this.#version) return
    this.#version = version
    this.#known.clear()
    this.#rolesOf = new Map()
    this.#permissionsOf = new Map()
    for (const [, { username, role }] of records.records(USER_ROLE)) add(this.#rolesOf, username, role)
    for (const [, permission] of records.records(ROLE_PERMISSION))
      add(this.#permissionsOf, permission.role, permission)
  }

  #rightsOf(roles: readonly string[]): Rights {
    if (roles.includes(ADMINISTRATOR_ROLE)) return ADMINISTRATOR
    return new UserRights(roles.flatMap((role) => this.#permissionsOf.get(role) ?? []))
  }
}

const ADMINISTRATOR: Rights = { isAdministrator: true, allows: () => true }

class UserRights implements Rights {
  readonly isAdministrator = false
  readonly #configs = { read: new RuleTree(), write: new RuleTree() }
  readonly #services = { read: new RuleTree(), write: new RuleTree() }
  #readsMetrics = false

  constructor(permissions: readonly RolePermission[]) {
    for (const { resource, action } of permissions) {
      // A resource that cannot be parsed allows nothing: a later version may have written it.
      const pattern = resourcePatternOf(resource)
      if (pattern === undefined) continue
      if (action !== 'w') this.#add('read', pattern)
      if (action !== 'r') this.#add('write', pattern)
    }
  }

  allows(action: Action, resource: Resource): boolean {
    switch (resource.kind) {
      case 'config':
        return this.#allowsConfig(action, resource.key)
      case 'service':
        return this.#allowsService(action, resource.key)
      case 'namespace':
        return action === 'read' && this.#readsIn(resource.namespaceId)
      case 'some-configs':
        return this.#configs[action].reaches(resource.namespaceId)
      case 'some-services':
        return this.#services[action].reaches(resource.namespaceId)
      case 'metrics':
        return action === 'read' && this.#readsMetrics
      case 'some-namespaces':
      case 'own-account':
        return true
      case 'operator':
      case 'backup':
      case 'audit':
      case 'access':
        return false
    }
  }

  #add(action: Action, pattern: ResourcePattern): void {
    if (pattern.kind === 'metrics') {
      this.#readsMetrics ||= action === 'read'
      return
    }
    const parts = [pattern.namespace, pattern.group, pattern.name]
    if (pattern.kind !== 'naming') this.#configs[action].add(parts)
    if (pattern.kind !== 'config') this.#services[action].add(parts)
  }

  #allowsConfig(action: Action, { namespaceId, group, dataId }: ConfigKey): boolean {
    return this.#configs[action].matches([namespaceId, group, dataId])
  }

  #allowsService(action: Action, { namespaceId, groupedName }: ServiceKey): boolean {
    return this.#services[action].matches([namespaceId, groupOf(groupedName), serviceNameOf(groupedName)])
  }

  #readsIn(namespaceId: string): boolean {
    return this.#configs.read.reaches(namespaceId) || this.#services.read.reaches(namespaceId)
  }
}

const NO_ROLES: Rights = new UserRights([])

function add<V>(lists: Map<string, V[]>, key: string, value: V): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}
