import type { Settings } from '../../../settings/settings.ts'

/** The operations of `waypost user` and `waypost key`, on a running server or in the directory of a stopped server. */
export interface Accounts {
  /** The directory of a store that this command has made. */
  readonly newStore?: string | undefined
  /** Makes a user, who is an administrator or may do nothing yet. */
  add(username: string, password: string, isAdministrator: boolean): Promise<void>
  /** Makes this user the first administrator of a store. False, without a change, if an administrator exists. */
  addFirst(username: string, password: () => Promise<string>): Promise<boolean>
  /** On a running server, users may change their own password; others need an administrator. */
  setPassword(username: string, password: string): Promise<void>
  list(): Promise<readonly Account[]>
  /** Removes a user with its roles. The last administrator stays. */
  remove(username: string): Promise<void>
  /** Signs new tokens with a new key from now on. An old key that has leaked ends at once, and with it all tokens. */
  rotateKey(hasLeaked: boolean): Promise<void>
  /**
   * Replaces the secret for requests between servers on etcd. False: a new secret is on its way already. Absent for
   * other places.
   */
  rotatePeerSecret?(): Promise<boolean>
}

/** A user and its roles. */
export interface Account {
  readonly username: string
  readonly roles: readonly string[]
}

/** The place of accounts: the directory of a stopped server, or etcd, also while servers work on it. */
export type StoredPlace =
  /** `mayBeNew`: a store is made if the directory is missing or empty. */
  { readonly directory: string; readonly mayBeNew?: boolean } | { readonly etcd: Settings }

/** Runs work on stored accounts, and closes the store. */
export type WithStoredAccounts = <T>(
  place: StoredPlace,
  work: (accounts: Accounts) => Promise<T>,
) => Promise<T>

/** The role of administrators. */
export const ADMINISTRATOR_ROLE = 'ROLE_ADMIN'
