import type { Logger } from 'pino'
import { hasAdministrator } from '../../core/access/access-commands.ts'
import { ANONYMOUS, type Identity, type NotSignedIn } from '../../core/access/identity.ts'
import type { AuditTrail } from '../../core/audit/audit-event.ts'
import { AllRights } from '../../core/access/rights.ts'
import { endedSessions, removeEndedSessions } from '../../core/access/session-commands.ts'
import { createFirstKey, removeOldKeys } from '../../core/access/signing-key-commands.ts'
import { USER, type User } from '../../core/access/access-records.ts'
import type { Engine } from '../../core/engine/ports.ts'
import { inParts } from '../../core/work/in-parts.ts'
import { Refusal } from '../../core/refusal.ts'
import type { State } from '../../core/engine/state.ts'
import type { Observability } from '../process/observability.ts'
import type { Authorisation } from '../../operations/authorisation.ts'
import { Judge } from '../../operations/access/judge.ts'
import type { SignInParts } from '../../operations/access/sign-in.ts'
import { sessionsIn } from '../../protocols/http/endpoints/access/session-cookie.ts'
import type { Credentials, Identification } from '../../protocols/http/transport/identification.ts'
import type { HttpCaller } from '../../protocols/http/routing/route.ts'
import type { ClientCredentials, Strangers } from '../../protocols/grpc/requests/dispatch.ts'
import type { Settings } from '../../settings/settings.ts'
import { FirstCode } from '../../sign-in/first-code.ts'
import { PasswordSignIn } from '../../sign-in/password-sign-in.ts'
import { Passwords } from '../../sign-in/passwords.ts'
import { Sessions } from '../../sign-in/sessions.ts'
import { newSigningKey } from '../../sign-in/signing-keys.ts'
import { Tokens } from '../../sign-in/tokens.ts'
import {
  type AuthenticationMode,
  authenticationMode,
  refuseOpenServer,
} from '../process/authentication-mode.ts'
import { loop, monotonicMs, wallMs } from '../process/clocks.ts'
import { recordedCheck, refusedUnread } from './recorded-sign-ins.ts'
import { openOldTokenKey, type OldTokenParts } from './old-token-key.ts'
import { RefusalReport } from './refusal-report.ts'

/** Signing in, the identity of callers, and their rights. */
export interface SignIn {
  readonly mode: AuthenticationMode
  readonly parts: SignInParts['signIn']
  /** Undefined while everybody may do everything. */
  readonly authorisation: Authorisation | undefined
  readonly identification: Identification | undefined
  /** Judges signed-in callers; undefined while authentication is off. */
  readonly judge: Judge | undefined
  /** Finds the sender of a request on a connection. */
  readonly identifyClient: (credentials: ClientCredentials) => Identity | Promise<Identity>
  /** Refuses clients on connections with invalid credentials; undefined while nobody is refused. */
  readonly strangers: Strangers | undefined
  /** Removes sessions and keys that do not count any longer. Call it about every ten seconds. */
  tidy(): Promise<void>
}

interface SignInNeeds extends OldTokenParts {
  readonly state: State
  readonly engine: Engine
  readonly watch: Pick<Observability, 'report'>
}

/** Builds the sign-in of a server, with a signing key. Throws an Error if the server would be open by accident. */
export async function openSignIn(needs: SignInNeeds, settings: Settings, log: Logger): Promise<SignIn> {
  const { state, engine, watch, trail } = needs
  const isManaged = hasAdministrator(state)
  const mode = authenticationMode(settings, isManaged)
  refuseOpenServer(mode, settings)
  await engine.execute(createFirstKey(newSigningKey()))
  const rights = new AllRights(state)
  const passwords = new Passwords({ rule: settings.passwordRule })
  const byPassword = new PasswordSignIn({
    records: state,
    engine,
    passwords,
    nowMs: monotonicMs,
    after: loop.after,
  })
  const oldKey = await openOldTokenKey(needs, settings, log)
  const tokens = new Tokens({ records: state, nowMs: wallMs, ttlMs: settings.tokenTtlMs, oldKey })
  const sessions = new Sessions({ records: state, engine, nowMs: wallMs, report: watch.report })
  const firstCode = new FirstCode(mode !== 'off' && !isManaged)
  const isAdministrator = (username: string): boolean => rights.of(username).isAdministrator
  const isOptional = mode !== 'on'
  const parts = { passwords, byPassword, tokens, sessions, firstCode, isAdministrator, isOptional }
  const tidy = async (): Promise<void> => {
    for (const ids of inParts(endedSessions(state, wallMs()), engine.mostAtOnce))
      await engine.execute(removeEndedSessions(ids))
    await engine.execute(removeOldKeys())
  }
  logMode({ mode, isManaged, code: firstCode.text }, log)
  if (mode === 'off') return { ...OPEN, mode, parts, tidy }
  const reportOnly = mode === 'report' ? new RefusalReport({ log, trail, nowMs: monotonicMs }).add : undefined
  const judge = new Judge({ state, rightsOf: (username) => rights.of(username), nowMs: wallMs, reportOnly })
  const check = recordedCheck((attempt) => byPassword.check(attempt), trail, state)
  const identification = identificationBy({ ...parts, check, judge, trail, state })
  const strangers = mode === 'on' ? strangersBy(judge, trail) : undefined
  const identifyClient = identifyBy(tokens)
  return { mode, parts, authorisation: judge, judge, identification, identifyClient, strangers, tidy }
}

/** Nobody signs in. */
const OPEN = {
  authorisation: undefined,
  judge: undefined,
  identification: undefined,
  identifyClient: (): Identity => ANONYMOUS,
  strangers: undefined,
}

function strangersBy(judge: Judge, trail: AuditTrail): Strangers {
  return {
    refusalOf: (identity) => judge.refusalOf(identity),
    refusedUnread: (caller, permission, { code }) => refusedUnread(trail, { caller, permission, code }),
  }
}

/** The user of the token, or else of the certificate of the connection. */
function identifyBy(tokens: Tokens): SignIn['identifyClient'] {
  return ({ token, certificateUser }) => {
    if (token !== undefined) return tokens.identify(token)
    return certificateUser === undefined ? ANONYMOUS : identityByCertificate(certificateUser)
  }
}

interface IdentificationParts extends Pick<SignInParts['signIn'], 'tokens' | 'sessions' | 'isOptional'> {
  readonly check: PasswordSignIn['check']
  readonly judge: Judge
  readonly trail: AuditTrail
  readonly state: State
}

function identificationBy(parts: IdentificationParts): Identification {
  const { tokens, check, isOptional, judge, trail, state } = parts
  const identification: Identification = {
    counts: (identity) => judge.refusalOf(identity) === undefined,
    refuse: (caller, permission) => {
      const refusal = judge.refused(caller, permission.action)
      refusedUnread(trail, { caller, permission, code: refusal.code })
      return refusal
    },
    known: (token) => tokens.known(token),
    identify: ({ token, pair }: Credentials, caller) => {
      if (token !== undefined) return tokens.identify(token)
      if (pair === undefined) return identityWithoutSecrets(parts, caller)
      const user = check({ ...pair, ip: caller.ip })
      const identityOf = (found: User | undefined): Identity =>
        found === undefined ? wrongPair(state, pair.username) : identityByPassword(found)
      return user instanceof Promise ? user.then(identityOf) : identityOf(user)
    },
  }
  return isOptional ? withoutRefusals(identification) : identification
}

/** The user of a browser's cookies, or else of the connection's certificate. The first valid cookie counts. */
function identityWithoutSecrets(
  { sessions, judge }: Pick<IdentificationParts, 'sessions' | 'judge'>,
  caller: HttpCaller,
): Identity {
  let first: Identity | undefined
  for (const browserId of sessionsIn(caller)) {
    const identity = sessions.identify(browserId)
    if (judge.problemOf(identity) === undefined) return identity
    first ??= identity
  }
  if (first !== undefined) return first
  const { certificateUser } = caller
  return certificateUser === undefined ? ANONYMOUS : identityByCertificate(certificateUser)
}

/** A caller who may not sign in continues as anonymous. */
function withoutRefusals(identification: Identification): Identification {
  return {
    ...identification,
    identify: async (credentials, caller) => {
      try {
        return await identification.identify(credentials, caller)
      } catch (error) {
        if (error instanceof Refusal) return UNKNOWN_USER
        throw error
      }
    },
  }
}

const UNKNOWN_USER: NotSignedIn = { kind: 'not-signed-in', code: 'unknown-user' }

function wrongPair(state: State, sent: string): NotSignedIn {
  const username = state.record(USER, sent)?.username
  return username === undefined ? UNKNOWN_USER : { ...UNKNOWN_USER, username }
}

function identityByPassword({ username, credentialStamp }: User): Identity {
  return { kind: 'user', username, by: 'password', credentialStamp, expiresMs: Infinity }
}

function identityByCertificate(user: { username: string; expiresMs: number }): Identity {
  return { kind: 'user', by: 'certificate', credentialStamp: undefined, ...user }
}

interface SignInMode {
  readonly mode: AuthenticationMode
  readonly isManaged: boolean
  readonly code: string | undefined
}

/** Logs what an operator must know about the sign-in. */
function logMode({ mode, isManaged, code }: SignInMode, log: Logger): void {
  if (mode === 'off' && isManaged)
    log.warn('authentication is off by the setting auth, though there are users: everybody may do everything')
  if (mode === 'report')
    log.warn(
      'authentication only reports: everybody may do everything, and the log tells what would be refused',
    )
  if (code !== undefined)
    log.warn({ code }, 'there is no administrator yet: make one with this one-time code (docs/operations.md)')
}
