import { randomUUID } from 'node:crypto'
import { Type } from '../../../parameters/schema.ts'
import type { Engine } from '../../../../core/engine.ts'
import {
  createNamespace,
  deleteNamespace,
  updateNamespace,
} from '../../../../core/namespaces/namespace-commands.ts'
import { FALSE_JSON, TRUE_JSON } from '../../routing/answers.ts'
import * as fields from '../../../parameters/fields.ts'
import { operation } from '../../routing/operation.ts'
import type { Answer } from '../../routing/route.ts'
import type { NamespaceListParts } from './namespace-list.ts'

/** What the routes of namespaces work on. */
export interface NamespaceParts extends NamespaceListParts {
  readonly engine: Pick<Engine, 'execute'>
}

/** Permissions of the operations on namespaces. */
export const READ_NAMESPACES = { action: 'read', resource: 'namespace' } as const
export const WRITE_NAMESPACES = { action: 'write', resource: 'namespace' } as const

/** The outcome of a change, as a bare boolean. */
export function booleanAnswer(outcome: boolean): Answer {
  return outcome ? TRUE_JSON : FALSE_JSON
}

/** Makes a namespace; without an id, or with an empty one, a UUID is made up. */
export async function makeNamespace(
  { engine }: NamespaceParts,
  params: { customNamespaceId?: string; namespaceName: string; namespaceDesc?: string },
): Promise<boolean> {
  const { customNamespaceId: sent, namespaceName: showName, namespaceDesc: desc = '' } = params
  const id = sent === undefined || sent === '' ? randomUUID() : sent
  return engine.execute(createNamespace({ id, showName, desc }))
}

/** Changes what people see of a namespace; a description that is not given stays as it is. */
export async function renameNamespace(
  { engine, state }: NamespaceParts,
  params: { namespace: string; namespaceShowName: string; namespaceDesc?: string },
): Promise<boolean> {
  const { namespace: id, namespaceShowName: showName } = params
  const desc = params.namespaceDesc ?? state.namespace(id)?.desc ?? ''
  return engine.execute(updateNamespace({ id, showName, desc }))
}

/** Takes a namespace off the list; the same in every dialect. */
export function removeNamespace({ engine }: NamespaceParts) {
  return operation({
    summary: 'Takes a namespace off the list; what is in it stays readable',
    permission: WRITE_NAMESPACES,
    params: Type.Object({ namespaceId: fields.namespaceId }),
    handle: async ({ params }) => booleanAnswer(await engine.execute(deleteNamespace(params.namespaceId))),
  })
}
