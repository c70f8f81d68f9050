import type { Space } from '../answers.ts'
import { type CommandResult, DiffersError, done, listed } from '../../command/command-line.ts'
import type { ClientFlags } from '../server-options.ts'
import { clientOf, type SvcClient } from '../session-of-flags.ts'

/** The flags of `namespace create` and `update`. */
export interface NamespaceTextFlags extends ClientFlags {
  readonly name?: string
  readonly description?: string
}

const PATH = '/console/namespaces'

/** `namespace list`. */
export async function listNamespaces(flags: ClientFlags): Promise<CommandResult> {
  return listed<Space>(
    await allNamespaces(clientOf(flags)),
    [
      ['ID', ({ namespaceId }) => namespaceId],
      ['NAME', ({ name }) => name],
      ['CONFIGS', ({ configCount }) => configCount],
      ['LISTED', ({ listed: isListed }) => (isListed ? 'yes' : 'no')],
      ['DESCRIPTION', ({ desc }) => desc],
    ],
    ({ namespaceId }) => namespaceId,
  )
}

/** The namespaces that the user may see, on the list or in use. */
export async function allNamespaces(client: SvcClient): Promise<readonly Space[]> {
  return (await client.get<{ readonly namespaces: readonly Space[] }>(`${PATH}/all`)).namespaces
}

/** `namespace create`. */
export async function createNamespace(flags: NamespaceTextFlags, id: string): Promise<CommandResult> {
  const client = clientOf(flags)
  const name = flags.name ?? id
  await client.send('POST', PATH, {
    customNamespaceId: id,
    namespaceName: name,
    namespaceDesc: flags.description ?? '',
  })
  return saved(`The namespace ${id} is made.`, { id, name }, client)
}

/** `namespace update`. Fields without a flag stay. */
export async function updateNamespace(flags: NamespaceTextFlags, id: string): Promise<CommandResult> {
  const client = clientOf(flags)
  const before = await namespaceOf(client, id)
  const name = flags.name ?? before.name
  await client.send('PUT', PATH, {
    namespace: id,
    namespaceShowName: name,
    namespaceDesc: flags.description ?? before.desc,
  })
  return saved(`The namespace ${id} is changed.`, { id, name }, client)
}

/** The result of a change. It warns where other namespaces have the same name: people tell them apart by their ids then. */
async function saved(
  text: string,
  { id, name }: { readonly id: string; readonly name: string },
  client: SvcClient,
): Promise<CommandResult> {
  const others = (await allNamespaces(client)).filter((one) => one.name === name && one.namespaceId !== id)
  const ids = others.map(({ namespaceId }) => namespaceId || 'public')
  const warning = ids.length === 0 ? '' : ` Warning: the name ${name} is also the name of ${ids.join(', ')}.`
  return done(`${text}${warning}`, { namespaceId: id, ...(warning !== '' && { sameName: ids }) })
}

/** A namespace on the list; the server silently changes nothing for others. Throws DiffersError. */
async function namespaceOf(client: SvcClient, id: string): Promise<Space> {
  const found = (await allNamespaces(client)).find(({ namespaceId }) => namespaceId === id)
  if (found?.listed === true) return found
  throw new DiffersError(
    found === undefined ? `There is no namespace ${id}.` : `The namespace ${id} is not on the list.`,
  )
}

/** `namespace delete`. */
export async function deleteNamespace(flags: ClientFlags, id: string): Promise<CommandResult> {
  const client = clientOf(flags)
  await namespaceOf(client, id)
  await client.send('DELETE', PATH, { namespaceId: id })
  return done(`The namespace ${id} is off the list.`, { namespaceId: id })
}
