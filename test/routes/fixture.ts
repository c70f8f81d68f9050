/** The routes of configurations, namespaces and the console over a store in memory, called without sockets. */
import { ANONYMOUS, type Identity } from '../../src/core/access/identity.ts'
import type { AuditTrail } from '../../src/core/audit/audit-event.ts'
import type { ConfigKey } from '../../src/core/config/state/config-item.ts'
import type { HistoryRecord } from '../../src/core/config/state/history-record.ts'
import type { Change } from '../../src/core/decisions/changes.ts'
import { StoreRoom } from '../../src/core/engine/store-room.ts'
import type { Engine, ChangeGroup, Store, VersionId } from '../../src/core/engine/ports.ts'
import { LongWalks } from '../../src/core/work/long-walks.ts'
import { SoleEngine } from '../../src/core/engine/sole-engine.ts'
import { Timeline } from '../../src/core/naming/timeline/timeline.ts'
import { Follower } from '../../src/core/engine/follower.ts'
import { Refusal } from '../../src/core/refusal.ts'
import { Stamps } from '../../src/core/decisions/stamps.ts'
import { State } from '../../src/core/engine/state.ts'
import { viewsOfOne } from '../../src/operations/client-views.ts'
import { Guard } from '../../src/operations/guard.ts'
import type { Authorisation } from '../../src/operations/authorisation.ts'
import { allOperations, type OperationParts, type Operations } from '../../src/operations/operations.ts'
import { nacosAccessRoutes } from '../../src/protocols/http/nacos/access-routes.ts'
import { nacosConfigRoutes } from '../../src/protocols/http/nacos/config-routes.ts'
import { nacosConsoleRoutes } from '../../src/protocols/http/nacos/console-routes.ts'
import { nacosImportRoutes } from '../../src/protocols/http/nacos/import-routes.ts'
import { nacosListenerRoutes } from '../../src/protocols/http/nacos/listener-routes.ts'
import { nacosNamespaceRoutes } from '../../src/protocols/http/nacos/namespace-routes.ts'
import type { Route, Answer } from '../../src/protocols/http/routing/route.ts'
import { Router } from '../../src/protocols/http/routing/router.ts'
import { svcAccessRoutes } from '../../src/protocols/http/svc/access-routes.ts'
import { svcConsoleRoutes } from '../../src/protocols/http/svc/console-routes.ts'
import { svcConfigRoutes } from '../../src/protocols/http/svc/config-routes.ts'
import { svcListenerRoutes } from '../../src/protocols/http/svc/listener-routes.ts'
import { svcNamespaceRoutes } from '../../src/protocols/http/svc/namespace-routes.ts'
import { AllRights } from '../../src/core/access/rights.ts'
import { FirstCode } from '../../src/sign-in/first-code.ts'
import { PasswordSignIn } from '../../src/sign-in/password-sign-in.ts'
import { Sessions } from '../../src/sign-in/sessions.ts'
import { Tokens } from '../../src/sign-in/tokens.ts'
import type { Passwords } from '../../src/sign-in/passwords.ts'
import { formalVersions } from '../../src/subscribers/formal-versions.test-support.ts'
import { ConfigWatchers, type ConfigWatcherOptions } from '../../src/subscribers/config-watchers.ts'
import { CALLER } from './route-table.ts'

/** The answer to a request: at once, or after it was held. */
export interface Asked {
  readonly answer: Answer | undefined
  readonly text: string
  readonly wasHeld: boolean
  /** Disconnects the client. */
  leave(): void
  /** The answer, also of a request that is held still. */
  later(): Answer | undefined
}

/** A small server. The test moves its clock. */
export function startFixture(
  limits: Pick<ConfigWatcherOptions, 'maxHeld'> & { authorisation?: Authorisation; trail?: AuditTrail } = {},
) {
  const clock = { nowMs: 0 }
  const state = new State(0)
  const store = new MemoryStore()
  const soon = (run: () => void) => void setImmediate(run)
  const loop = { now: () => clock.nowMs, soon }
  const walks = new LongWalks(loop)
  const polls = new ConfigWatchers({
    ...formalVersions((key) => state.config(key)?.md5 ?? ''),
    loop,
    ...limits,
  })
  const stamps = new Stamps()
  const now = () => {
    const wallMs = 1_795_260_678_579 + clock.nowMs
    return { wallMs, healthMs: clock.nowMs, stamp: stamps.next(wallMs) }
  }
  const feed = {
    publishChanges: (changes: readonly Change[]) => changes.forEach((change) => polls.onChange(change)),
  }
  const timeline = new Timeline({ startMs: now().wallMs, probeText: () => '' })
  const engine = new SoleEngine({
    follower: new Follower(state, { clock: now, stamps, feed, observer: timeline }),
    store: store as unknown as Store,
    clock: now,
    loop,
    report: fail,
  })
  const signIn = passwordsInClear({ state, engine, now: () => now().wallMs })
  const operations = allOperations({
    guard: new Guard(limits.authorisation, limits.trail),
    state,
    store,
    engine,
    walks,
    polls,
    views: viewsOfOne({
      watchersOf: (key) => polls.lists.watchersOf(key),
      clientCounts: (keys) => polls.lists.clientCounts(keys),
      clientsOf: (key) => polls.lists.clientsOf(key),
      watchedBy: (ip) => polls.lists.watchedBy(ip),
      subscribers: () => [],
      condition: async () => ({ behind: [], lost: [], subscriberCount: 0, lagMs: 0, faults: [] }),
      timeline: (key) => timeline.of(key),
      dismissLost: (key) => timeline.lost.dismiss(key),
      connectedClients: () => ({ server: '10.0.0.1:8848', count: 0, clients: [] }),
      dismiss: () => false,
    }),
    timeline,
    room: new StoreRoom(0),
    signIn,
    isAuthenticationOn: false,
    members: () => [{ ip: '10.0.0.1', port: 8848, site: '', alive: true, lastRefMs: 17 }],
  } as unknown as OperationParts)
  const routes = routesOf(operations, () => clock.nowMs)
  const router = new Router(routes, 1000)
  return {
    clock,
    state,
    store,
    engine,
    signIn,
    operations,
    polls,
    routes,
    svc: (method: string, path: string, sent?: Sent) => ask(router, [method, `/svc/v1${path}`], sent),
    nacos: (method: string, path: string, sent?: Sent) => ask(router, [method, `/nacos/v1${path}`], sent),
  }
}

function fail(error: unknown): never {
  throw error
}

/** Signing in with a password whose hash is the password with a word before it. */
function passwordsInClear({ state, engine, now }: { state: State; engine: Engine; now: () => number }) {
  const passwords = {
    hash: async (password: string) => `hash of ${password}`,
    hashNew: async ({ password }: { password: string }) => `hash of ${password}`,
    check: async (password: string, stored: string | undefined) => ({
      matches: stored === `hash of ${password}`,
      isOutdated: false,
    }),
  } as unknown as Passwords
  const after = (_ms: number, run: () => void) => void setImmediate(run)
  return {
    passwords,
    byPassword: new PasswordSignIn({ records: state, engine, passwords, nowMs: () => 0, after }),
    tokens: new Tokens({ records: state, nowMs: now, ttlMs: 18_000_000 }),
    sessions: new Sessions({ records: state, engine, nowMs: now, report: fail }),
    firstCode: new FirstCode(true),
    isAdministrator: (username: string) => new AllRights(state).of(username).isAdministrator,
    isOptional: false,
  }
}

/** The settings as a server reports them. */
const FACTS = {
  isOneOfMany: false,
  port: 8848,
  maxContentBytes: 1000,
  historyRetentionMs: 30 * 86_400_000,
  namespaceQuota: 200,
}

function routesOf(operations: Operations, nowMs: () => number): Route[] {
  const limits = {
    maxContentBytes: 1000,
    maxFormBodyBytes: 10_000,
    maxImportBytes: 10_000,
    maxImportContentBytes: 10_000,
  }
  const listener = { ...operations, nowMs, maxListeningItems: 100 }
  const namespaces = { ...operations, namespaceQuota: 200 }
  return [
    ...svcAccessRoutes(operations),
    ...nacosAccessRoutes(operations),
    ...svcConfigRoutes(operations, limits),
    ...svcConsoleRoutes(operations, {
      temporary: false,
      version: '1.2.3',
      notReady: () => [],
      warnings: () => [],
    }),
    ...svcListenerRoutes(listener),
    ...svcNamespaceRoutes(namespaces),
    ...nacosConfigRoutes(operations, limits),
    ...nacosImportRoutes(operations, limits),
    ...nacosListenerRoutes(listener),
    ...nacosNamespaceRoutes(namespaces),
    ...nacosConsoleRoutes({ ...operations, version: '1.2.3', notReady: () => [], facts: FACTS }),
  ]
}

/** Parameters, headers by their lower-case names, and who asks. */
export interface Sent {
  readonly params?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly rawBody?: Buffer
  readonly identity?: Identity
  /** Whether the client speaks TLS. */
  readonly isSecure?: boolean
}

async function ask(router: Router, [method, path]: [string, string], sent: Sent = {}): Promise<Asked> {
  const plain = router.find(method, path)
  if (plain instanceof Refusal) throw plain
  const query = new URLSearchParams(sent.params).toString()
  const found = sent.rawBody === undefined ? plain : router.variantOf(plain, `${path}?${query}`, 100)
  let answer: Answer | undefined
  let gone: (() => void) | undefined
  let wasHeld = false
  const { identity = ANONYMOUS, isSecure = false, headers = {} } = sent
  const caller = { ...CALLER, identity, isSecure, headers }
  const hold = () => {
    wasHeld = true
    return {
      answer: (given: Answer) => void (answer = given),
      refuse: (refusal: Refusal) =>
        void (answer = found.route.errors(refusal, { method, path, requestId: 'r' })),
      onGone: (run: () => void) => void (gone = run),
    }
  }
  try {
    const params = found.readParameters(new Map(Object.entries(sent.params ?? {})))
    answer =
      (await found.route.handle({
        params,
        caller,
        rawBody: sent.rawBody,
        target: undefined,
        hold,
      })) ?? answer
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    answer = found.route.errors(error, { method, path, requestId: 'r' })
  }
  return { answer, text: String(answer?.body ?? ''), wasHeld, leave: () => gone?.(), later: () => answer }
}

/** The part of a store that these routes need. */
class MemoryStore {
  readonly #records: HistoryRecord[] = []
  #revision = 1

  /** It keeps no services and no instances. */
  readonly mayHave = () => false
  readonly surelyHas = () => false

  async commit(groups: readonly ChangeGroup[]) {
    this.#records.push(...groups.flat().flatMap(recordsOf))
    return { kind: 'committed' as const, revision: this.#revision++ }
  }

  reads(_reader: unknown) {
    return {
      history: async (keys: readonly ConfigKey[], page: { pageNo: number; pageSize: number }) => {
        const all = keys.flatMap((key) => this.#of(key)).toSorted((one, other) => other.id - one.id)
        const first = (page.pageNo - 1) * page.pageSize
        return { totalCount: all.length, entries: all.slice(first, first + page.pageSize) }
      },
      historyRecord: async (id: number) => this.#records.find((record) => record.id === id),
      historyBefore: async (key: ConfigKey, id: number) => this.#of(key).findLast((one) => one.id < id),
      historyAfter: async (key: ConfigKey, id: number) => this.#of(key).find((one) => one.id > id),
      authors: async (versions: readonly VersionId[]) => {
        const ids = new Set(versions.map(({ historyId }) => historyId))
        return new Map(this.#records.filter(({ id }) => ids.has(id)).map(({ id, srcUser }) => [id, srcUser]))
      },
      lastUpdate: async (key: ConfigKey, itemId: number) =>
        this.#of(key).findLast((record) => record.id > itemId && record.op === 'U'),
    }
  }

  #of(key: ConfigKey): HistoryRecord[] {
    return this.#records.filter((record) => JSON.stringify(record.key) === JSON.stringify(key))
  }
}

function recordsOf(change: Change): HistoryRecord[] {
  if (change.kind !== 'config-published' && change.kind !== 'config-deleted') return []
  const published = change.kind === 'config-published'
  const item = published ? (change.previous ?? change.item) : change.deleted
  return [
    {
      id: published ? change.item.historyId : change.historyId,
      key: item.key,
      op: published ? change.op : 'D',
      content: item.content,
      md5: item.md5,
      type: item.type,
      appName: item.notes.appName,
      encryptedDataKey: item.notes.encryptedDataKey,
      srcIp: change.operator.ip,
      srcUser: change.operator.user,
      atMs: published ? change.item.modifiedMs : change.atMs,
    },
  ]
}
