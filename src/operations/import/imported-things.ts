import type { RolePermission, UserRole } from '../../core/access/access-records.ts'
import type { ImportedConfig, ImportedRecord } from '../../core/config/commands/import-config.ts'
import type { PublishGray } from '../../core/config/commands/publish-gray.ts'
import type { Namespace } from '../../core/namespaces/namespace.ts'
import type { ImportedInstance, ImportedService } from '../../core/naming/commands/import-naming.ts'

/** A thing of another server, checked as far as possible without the state. */
export type ImportedThing =
  | { readonly kind: 'namespace'; readonly namespace: Namespace }
  | { readonly kind: 'switch'; readonly entry: string; readonly value: string }
  | { readonly kind: 'user'; readonly username: string; readonly passwordHash: string }
  | { readonly kind: 'role'; readonly role: UserRole }
  | { readonly kind: 'permission'; readonly permission: RolePermission }
  | { readonly kind: 'history'; readonly record: ImportedRecord }
  | { readonly kind: 'config'; readonly config: ImportedConfig }
  | { readonly kind: 'gray'; readonly gray: Omit<PublishGray, 'casMd5' | 'comment'> }
  | { readonly kind: 'service'; readonly service: ImportedService }
  | { readonly kind: 'instance'; readonly instance: ImportedInstance }

/** A line of an import: a thing, or why it cannot be one here. */
export interface ImportLine {
  /** The number of the line in the upload. */
  readonly line: number
  readonly thing: ImportedThing | { readonly kind: 'refused'; readonly reason: string }
}

/** The outcome of a line that was not simply taken. */
export interface LeftLine {
  readonly line: number
  readonly outcome: 'kept' | 'refused'
  readonly reason: string
}

/** The outcome of all lines. */
export interface ImportedState {
  readonly taken: number
  readonly unchanged: number
  readonly kept: number
  readonly refused: number
  /** The kept and refused lines. */
  readonly lines: readonly LeftLine[]
}
