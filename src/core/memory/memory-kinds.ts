import { ROLE_PERMISSION, SESSION, USER, USER_ROLE } from '../access/access-records.ts'
import { DELETED_CONFIG } from '../config/state/deleted-config.ts'
import { GRAY, GRAY_TEXT } from '../config/state/gray-version.ts'
import type { Change } from '../decisions/changes.ts'
import { REMEMBERED_METADATA } from '../naming/state/remembered-metadata.ts'
import { NAMESPACE, NAMESPACE_LOOK } from '../namespaces/namespace.ts'

/** The kinds of things in memory, as metrics and refusals name them, with the part that each belongs to. */
export const MEMORY_KINDS = {
  configurations: 'configurations',
  'gray texts': 'configurations',
  'gray rules': 'configurations',
  services: 'naming',
  instances: 'naming',
  'remembered metadata': 'naming',
  users: 'others',
  namespaces: 'others',
  'deleted configurations': 'ungoverned',
  sessions: 'ungoverned',
  'other records': 'ungoverned',
} as const

/** The name of a kind. */
export type MemoryKind = keyof typeof MEMORY_KINDS

/**
 * A part of the memory, with a share of its own. `ungoverned`: bounded elsewhere, so that nobody is refused for it:
 * deletions, sign-in and the server's own records must work.
 */
export type MemoryPart = (typeof MEMORY_KINDS)[MemoryKind]

const KINDS_OF_RECORDS: ReadonlyMap<string, MemoryKind> = new Map<string, MemoryKind>([
  [GRAY.name, 'gray rules'],
  [GRAY_TEXT.name, 'gray texts'],
  [DELETED_CONFIG.name, 'deleted configurations'],
  [REMEMBERED_METADATA.name, 'remembered metadata'],
  [USER.name, 'users'],
  [USER_ROLE.name, 'users'],
  [ROLE_PERMISSION.name, 'users'],
  [NAMESPACE.name, 'namespaces'],
  [NAMESPACE_LOOK.name, 'namespaces'],
  [SESSION.name, 'sessions'],
])

/** The kind of the thing that a change saves or removes. */
export function memoryKindOf(change: Change): MemoryKind {
  switch (change.kind) {
    case 'config-published':
    case 'config-deleted':
    case 'history-imported':
      return 'configurations'
    case 'service-saved':
    case 'service-deleted':
      return 'services'
    case 'instance-saved':
    case 'instance-removed':
    case 'instance-health-changed':
      return 'instances'
    case 'record-saved':
    case 'record-removed':
      return KINDS_OF_RECORDS.get(change.recordKind) ?? 'other records'
  }
}
