import { problemOf, type RequestProblem } from '../server/problem.ts'
import { readUser, readUserAgain, type User } from '../server/session.ts'
import { meanUser, onSignedOut } from '../server/request.ts'
import type { ConfigName } from '../server/configs.ts'
import type { ServiceName } from '../server/services.ts'
import { loadAgain } from './location.ts'
import { allows, type Wanted } from './rights.ts'
import { Store } from './store.ts'

/** The user of the page. */
export type Standing =
  | { readonly kind: 'unknown' }
  | { readonly kind: 'unreachable'; readonly problem: RequestProblem }
  | { readonly kind: 'signed-out' }
  /** `isExpired`: the session has ended, and the view waits for the user to sign in again. */
  | { readonly kind: 'signed-in'; readonly user: User; readonly isExpired: boolean }

export const standing = new Store<Standing>({ kind: 'unknown' })

let waiting: (() => void)[] = []

/** Asks the server for the user of the page. */
export async function findUser(): Promise<void> {
  try {
    setUser(await readUser())
  } catch (error) {
    const problem = problemOf(error)
    const isSignedOut = problem.status === 401 || problem.status === 403
    standing.set(isSignedOut ? { kind: 'signed-out' } : { kind: 'unreachable', problem })
  }
}

/** Asks again what the user may do, and whether the session counts still: if not, somebody signs in over the view. */
export async function checkUser(): Promise<void> {
  const user = await readUserAgain()
  const { value } = standing
  if (value.kind === 'signed-in') standing.set({ ...value, user })
}

/** Called when the user of the page becomes another one, with the name; empty: nobody is signed in. */
export type UserListener = (username: string) => void

let onUser: UserListener | undefined

/** Says who is called when the user of the page becomes another one. */
export function onUserOfPage(listener: UserListener): void {
  onUser = listener
}

/** Somebody has signed in: requests that wait for that continue. */
export function setUser(user: User): void {
  meanUser(user.username)
  onUser?.(user.username)
  standing.set({ kind: 'signed-in', user, isExpired: false })
  const resumed = waiting
  waiting = []
  for (const resume of resumed) resume()
}

/**
 * Nobody is signed in any longer, because the user signed out. The page loads itself again: its questions and unfinished work are that
 * user's, and must not continue as somebody else's.
 */
export function forgetUser(): void {
  onUser?.('')
  standing.set({ kind: 'unknown' })
  loadAgain()
}

onSignedOut(() => {
  const { value } = standing
  if (value.kind === 'signed-in') standing.set({ ...value, isExpired: true })
  else standing.set({ kind: 'signed-out' })
  return new Promise((resolve) => waiting.push(resolve))
})

/** Whether what the user types may be kept: not while nobody is signed in, or the session has ended. */
export function mayKeepEdits(): boolean {
  const { value } = standing
  return value.kind === 'signed-in' && !value.isExpired
}

/** Whether the user may do everything. */
export function isAdministrator(): boolean {
  const { value } = standing
  return value.kind === 'signed-in' && value.user.globalAdmin
}

/** The name of the user; empty where nobody has to sign in. */
export function username(): string {
  const { value } = standing
  return value.kind === 'signed-in' ? value.user.username : ''
}

/** Whether nobody has to sign in. */
export function isOpen(): boolean {
  const { value } = standing
  return value.kind === 'signed-in' && value.user.username === ''
}

/** Whether the user may write this configuration. */
export const mayWriteConfig = ({ tenant, group, dataId }: ConfigName): boolean =>
  may({ action: 'w', kind: 'config', namespaceId: tenant, group, name: dataId })

/** Whether the user may write some configurations of a namespace. */
export const mayWriteConfigs = (namespaceId: string): boolean =>
  may({ action: 'w', kind: 'config', namespaceId })

/** Whether the user may write this service. */
export const mayWriteService = ({ namespaceId, groupName, serviceName }: ServiceName): boolean =>
  may({ action: 'w', kind: 'naming', namespaceId, group: groupName, name: serviceName })

/** Whether the user may write some services of a namespace. */
export const mayWriteServices = (namespaceId: string): boolean =>
  may({ action: 'w', kind: 'naming', namespaceId })

/** Whether the user may read something in a namespace. */
export const mayRead = (namespaceId: string): boolean => may({ action: 'r', namespaceId })

function may(wanted: Wanted): boolean {
  const { value } = standing
  if (value.kind !== 'signed-in') return false
  return value.user.globalAdmin || allows(value.user.permissions, wanted)
}

/** Whether buttons are shown for writing somewhere. */
export function mayWriteAnywhere(): boolean {
  const { value } = standing
  if (value.kind !== 'signed-in') return false
  return value.user.globalAdmin || value.user.permissions.some(({ action }) => action.includes('w'))
}
