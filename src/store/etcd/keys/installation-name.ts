import { randomUUID } from 'node:crypto'
import { fieldsOf, textIn } from '../../../core/records/shape.ts'
import type { KeyValue } from '@waypost/etcd-client/messages'

/** The name of the remembered value that names the installation. It is made with the first `format`. */
export const INSTALLATION = 'installation'

/** Names the installation that the keys under a prefix belong to (docs/decisions/0071). */
export interface InstallationName {
  readonly id: string
  /** A server's first start, a copy or restore by an operator, or the command `confirm-empty`. */
  readonly made: (typeof MADE)[number]
  /** The installations that it replaces: their servers take it for theirs. */
  readonly instead: readonly string[]
}

const MADE = ['start', 'copy', 'confirmed'] as const
const ID = /^[0-9a-f-]{36}$/
/** An operator confirms one loss after another. */
const MOST_REPLACED = 100

/** A new name. */
export function newInstallation(
  made: InstallationName['made'],
  instead: readonly string[] = [],
): InstallationName {
  return { id: randomUUID(), made, instead }
}

/** Whether the servers of `known` take the data of `found` for theirs. */
export function isSameOrNext(known: string, found: InstallationName): boolean {
  // A copy is made by an operator, into an empty prefix.
  return found.id === known || found.made === 'copy' || found.instead.includes(known)
}

/** The stored bytes of a name. */
export function installationBytes(name: InstallationName): Buffer {
  return Buffer.from(JSON.stringify(name))
}

/** Reads stored bytes. Throws an Error if no server has written them. */
export function readInstallation(bytes: Uint8Array): InstallationName {
  const fields = fieldsOf(JSON.parse(Buffer.from(bytes).toString()))
  const id = textIn(fields, 'id')
  const made = MADE.find((one) => one === fields['made'])
  const instead: unknown = fields['instead']
  const isList = Array.isArray(instead) && instead.length <= MOST_REPLACED
  if (!ID.test(id) || made === undefined || !isList || !instead.every((one) => typeof one === 'string'))
    throw new Error('it names no installation')
  return { id, made, instead }
}

/** The name that a key has; undefined: the key is missing, or no server has written its value. */
export function nameIn(installation: Pick<KeyValue, 'value'> | undefined): InstallationName | undefined {
  try {
    return installation && readInstallation(installation.value)
  } catch {
    return undefined
  }
}
