import type { Operations } from '../../../../operations/operations.ts'
import { toNamespaceId } from '../../../../core/namespaces/namespace.ts'
import * as fields from '../../../parameters/fields.ts'
import { Type } from '../../../parameters/schema.ts'
import { type Endpoint, endpoint } from '../../routing/endpoint.ts'
import { MAX_CLONE_BODY_BYTES, parseSelection, SELECTION_SCHEMA } from './clone-selection.ts'
import { importOptions, POLICY_PARAMS, type TransferAnswers } from './transfer-params.ts'

/** `POST /configs?clone=true`: copies items into a namespace, under other names where they are given. */
export function cloneEndpoint(transfer: Operations['transfer'], answers: TransferAnswers): Endpoint {
  return endpoint({
    summary: 'Copies items into a namespace',
    permission: transfer.clone.permission,
    params: Type.Object({
      clone: Type.Optional(Type.Boolean({ description: 'True, in the query: copies items.' })),
      tenant: Type.Optional(fields.withAliases(fields.tenant, 'namespace')),
      ...POLICY_PARAMS,
    }),
    variant: 'clone',
    body: 'raw',
    bodyTypes: { 'application/json': SELECTION_SCHEMA },
    maxBodyBytes: MAX_CLONE_BODY_BYTES,
    handle: async ({ params, caller, rawBody }) => {
      const selected = rawBody === undefined ? [] : parseSelection(rawBody.toString('utf8'))
      const namespaceId = toNamespaceId(params.tenant)
      const options = importOptions(params)
      const cloned = await transfer.clone({ namespaceId, selected, ...options }, caller)
      switch (cloned.kind) {
        case 'nothing-selected':
          return answers.nothingSelected()
        case 'unknown-namespace':
          return answers.unknownNamespace(namespaceId)
        case 'nothing-found':
          return answers.nothingToImport()
        case 'done':
          return answers.done(cloned.outcome, { what: 'clone', dryRun: options.dryRun, unrecognized: [] })
      }
    },
  })
}
