import type { ConfigKey } from '../config/state/config-item.ts'
import type { ServiceKey } from '../naming/state/service.ts'

/** The effect of an operation on its resources. */
export type Action = 'read' | 'write'

/**
 * One thing that a permission can allow or forbid. `some-configs`, `some-services` and `some-namespaces` mean at least
 * one in the namespace, or in any if `namespaceId` is undefined. The operation then asks for each one that it finds.
 * `operator`, `backup`, `audit` and `access` (users, roles, permissions, keys) need an administrator. `metrics` is for
 * monitoring. `own-account` needs a signed-in user, and nothing else.
 */
export type Resource =
  | { readonly kind: 'config'; readonly key: ConfigKey }
  | { readonly kind: 'service'; readonly key: ServiceKey }
  | { readonly kind: 'namespace'; readonly namespaceId: string }
  | { readonly kind: 'some-configs' | 'some-services'; readonly namespaceId: string | undefined }
  | {
      readonly kind:
        | 'some-namespaces'
        | 'operator'
        | 'backup'
        | 'audit'
        | 'access'
        | 'metrics'
        | 'own-account'
    }
