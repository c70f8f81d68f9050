import {
  addPermission,
  addRole,
  createFirstAdministrator,
  createUser,
  removePermission,
  removeRole,
  removeUser,
  replaceHash,
  setPassword,
} from '../../src/core/access/access-commands.ts'
import {
  ADMINISTRATOR_ROLE,
  idOf,
  ROLE_PERMISSION,
  SESSION,
  USER,
  USER_ROLE,
} from '../../src/core/access/access-records.ts'
import { importPermission, importRole, importUser } from '../../src/core/access/import-access.ts'
import {
  beginSession,
  endedSessions,
  endSession,
  removeEndedSessions,
  useSession,
} from '../../src/core/access/session-commands.ts'
import { createFirstKey, removeOldKeys, rotateKeys } from '../../src/core/access/signing-key-commands.ts'
import type { Change } from '../../src/core/decisions/changes.ts'
import { DELETED_CONFIG } from '../../src/core/config/state/deleted-config.ts'
import { deleteConfig, publishConfig } from '../../src/core/config/commands/publish-config.ts'
import { importGray } from '../../src/core/config/commands/import-gray.ts'
import { importConfig, importHistory } from '../../src/core/config/commands/import-config.ts'
import { promoteGray, stopGray } from '../../src/core/config/commands/end-gray.ts'
import { growGray, publishGray } from '../../src/core/config/commands/publish-gray.ts'
import { viewOf } from '../../src/core/config/state/config-view.ts'
import { GRAY, GRAY_TEXT } from '../../src/core/config/state/gray-version.ts'
import type { Command } from '../../src/core/decisions/decision.ts'
import { inParts } from '../../src/core/work/in-parts.ts'
import {
  createNamespace,
  deleteNamespace,
  importNamespace,
  updateNamespace,
} from '../../src/core/namespaces/namespace-commands.ts'
import { setNamespaceLook } from '../../src/core/namespaces/namespace.ts'
import { importSwitch, setSwitch } from '../../src/core/operator/set-switch.ts'
import { DEFAULT_SWITCHES } from '../../src/core/switches/switches.ts'
import { recordSaved } from '../../src/core/records/record-kind.ts'
import { GoneHistory } from '../../src/jobs/gone-history.ts'
import { sampleKey, stamps, START_MS } from './samples.ts'
import type { ServerOnStore } from './server-on-store.ts'
import {
  alone,
  BY,
  type LargestCase,
  LARGEST_OF_NAMING,
  LONG,
  MANY,
  nameOf,
  numbers,
} from './largest-naming-commands.ts'

const USERS = 60
const ROTATIONS = 150
const SESSIONS_OF_USER = 20
const user = (username: string) => ({ username, passwordHash: LONG })
function saved<T>(kind: { readonly name: string }, id: string, value: T): Change {
  return recordSaved(kind as never, { id, value: value as never, stamp: stamps.next(START_MS) })
}

const userSaved = (username: string) => saved(USER, username, { ...user(username), credentialStamp: 1 })
const roleSaved = (username: string, role: string) =>
  saved(USER_ROLE, idOf(username, role), { username, role })
const sessionSaved = (username: string, index: number, usedMs: number) =>
  saved(SESSION, `${username} ${index}`, { username, credentialStamp: 1, createdMs: usedMs, usedMs })
const permissionSaved = (role: string, index: number) =>
  saved(ROLE_PERMISSION, idOf(role, `${index}:*:*`, 'r'), { role, resource: `${index}:*:*`, action: 'r' })

/** Users with an administrator's role and others, and sessions that are in use. */
const PEOPLE: readonly Change[] = [
  userSaved('boss'),
  roleSaved('boss', ADMINISTRATOR_ROLE),
  userSaved('ann'),
  ...numbers(MANY).map((index) => roleSaved('ann', nameOf(index))),
  roleSaved('ann', ADMINISTRATOR_ROLE),
  ...numbers(SESSIONS_OF_USER).map((index) => sessionSaved('ann', index, START_MS)),
]

/** A role of many users, with many permissions. */
const ROLE: readonly Change[] = [
  ...numbers(MANY).flatMap((index) => [userSaved(nameOf(index)), roleSaved(nameOf(index), LONG)]),
  ...numbers(MANY).map((index) => permissionSaved(LONG, index)),
]

/** Sessions of many users that have ended. */
const ENDED: readonly Change[] = numbers(USERS).flatMap((index) => [
  userSaved(nameOf(index)),
  sessionSaved(nameOf(index), 0, 1),
])

function item(content: Buffer, comment = 'c'.repeat(512)) {
  const notes = {
    appName: LONG,
    desc: LONG,
    use: 'u'.repeat(32),
    effect: 'e'.repeat(32),
    schema: 's'.repeat(32_768),
    configTags: 't'.repeat(1_024),
    encryptedDataKey: 'k'.repeat(1_024),
  }
  const rest = { type: undefined, casMd5: undefined, operator: BY, comment }
  return publishConfig({ key: sampleKey(LONG), content, md5: String(content.length), notes, ...rest })
}

const pending = { oldId: '9'.repeat(20), atMs: START_MS, operator: BY }

function importedItem() {
  const notes = {
    appName: LONG,
    desc: LONG,
    use: LONG,
    effect: LONG,
    schema: 's'.repeat(65_536),
    configTags: 't'.repeat(1_024),
    encryptedDataKey: 'k'.repeat(1_024),
  }
  const { appName, encryptedDataKey } = notes
  const content = Buffer.alloc(LARGE.length, 'b')
  const times = { createdMs: START_MS, modifiedMs: START_MS }
  const facts = { type: 'yaml', operator: BY, appName, encryptedDataKey } as const
  return { key: sampleKey(LONG), content, md5: 'b', notes, ...facts, ...times }
}

/** The longest list of labels. */
const LONG_EXPR = `env=${numbers(425)
  .map((index) => `v${index}`)
  .join(',')}`

function grayItem(index: number, content: Buffer) {
  return publishGray({
    key: sampleKey(LONG),
    name: `${index}${'n'.repeat(120)}`,
    rule: { type: 'tagv2', version: '1.0.0', expr: `${LONG_EXPR},w${index}`, priority: 10 - index },
    content,
    md5: `${content.length} ${index}`,
    type: 'yaml',
    encryptedDataKey: 'k'.repeat(1_024),
    casMd5: undefined,
    operator: BY,
    comment: 'c'.repeat(512),
  })
}

const FIRST_GRAY = `0${'n'.repeat(120)}`
const GRAY_NAME = { key: sampleKey(LONG), name: FIRST_GRAY, operator: BY, comment: 'c'.repeat(512) }

/** An item with as many gray versions as it may have, each with a text of a size that no key can have or that just fits. */
const withGray =
  (formal: Buffer, contents: (index: number) => Buffer) =>
  async ({ engine }: ServerOnStore): Promise<void> => {
    await engine.execute(item(formal))
    for (const index of numbers(10)) await engine.execute(grayItem(index, contents(index)))
  }

/** Texts that go into the keys themselves, where they may. */
const INLINE = Buffer.alloc(250 * 1024, 'i')
const inlineGray = withGray(INLINE, () => INLINE)

const noGray = ({ state }: ServerOnStore): boolean =>
  [...state.records(GRAY), ...state.records(GRAY_TEXT)].length === 0

const LARGE = Buffer.alloc(10 * 1024 * 1024, 'a')

/** Deleted items whose history is gone. */
const GONE: readonly Change[] = numbers(USERS).flatMap((index) => {
  const key = sampleKey(nameOf(index))
  const value = { key, historyId: index, atMs: 1, md5: '', size: 1, type: 'text', operator: BY, notes: {} }
  return [saved(DELETED_CONFIG, key.text, value)]
})

/** Carries out a command again and again while it says that there is more. */
const repeated =
  (command: () => Command<boolean>) =>
  async ({ engine }: ServerOnStore): Promise<void> => {
    while (await engine.execute(command()));
  }
const rotations = async (server: ServerOnStore, count: number) => {
  for (const index of numbers(count))
    await server.engine.execute(rotateKeys({ id: `key ${index}`, secret: LONG }, { ttlMs: 3_600_000 }))
}

/** Every command of core at its largest, by the name of the function that makes it. */
export const LARGEST: Readonly<Record<string, LargestCase>> = {
  createUser: { run: alone(() => createUser(user(LONG))) },
  createFirstAdministrator: { run: alone(() => createFirstAdministrator(user(LONG))) },
  setPassword: { before: PEOPLE, run: alone(() => setPassword(user('ann'))) },
  replaceHash: { before: PEOPLE, run: alone(() => replaceHash('ann', { old: LONG, new: 'other' })) },
  removeUser: {
    before: PEOPLE,
    run: repeated(() => removeUser('ann')),
    done: ({ state }) =>
      state.record(USER, 'ann') === undefined && [...state.records(USER_ROLE)].length === 1,
  },
  addRole: { before: PEOPLE, run: alone(() => addRole({ username: 'boss', role: LONG })) },
  removeRole: {
    before: ROLE,
    run: repeated(() => removeRole(LONG, undefined)),
    done: ({ state }) =>
      [...state.records(USER_ROLE)].length === 0 && [...state.records(ROLE_PERMISSION)].length === 0,
  },
  addPermission: {
    before: ROLE,
    run: alone(() => addPermission({ role: LONG, resource: `${'r'.repeat(900)}:*:*`, action: 'r' })),
  },
  removePermission: {
    before: ROLE,
    run: alone(() => removePermission({ role: LONG, resource: '1:*:*', action: 'r' })),
  },
  createFirstKey: { run: alone(() => createFirstKey({ id: LONG, secret: LONG })) },
  rotateKeys: {
    prepare: (server) => rotations(server, ROTATIONS),
    run: alone(() => rotateKeys({ id: 'last', secret: LONG }, 'leaked')),
  },
  removeOldKeys: {
    prepare: async (server) => {
      await rotations(server, ROTATIONS)
      await server.engine.execute(rotateKeys({ id: 'last', secret: LONG }, 'leaked'))
    },
    run: alone(() => removeOldKeys()),
  },
  beginSession: {
    before: PEOPLE,
    run: alone(() => beginSession({ id: 'new', username: 'ann', credentialStamp: 1 })),
    done: ({ state }) => [...state.records(SESSION)].length === SESSIONS_OF_USER,
  },
  useSession: {
    before: [userSaved('ann'), sessionSaved('ann', 0, START_MS - 120_000)],
    run: alone(() => useSession('ann 0')),
  },
  endSession: { before: PEOPLE, run: alone(() => endSession('ann 0')) },
  removeEndedSessions: {
    before: [...PEOPLE, ...ENDED],
    run: async ({ engine, state }) => {
      for (const ids of inParts(endedSessions(state, START_MS), engine.mostAtOnce))
        await engine.execute(removeEndedSessions(ids))
    },
    done: ({ state }) => [...state.records(SESSION)].length === SESSIONS_OF_USER,
  },
  publishConfig: {
    prepare: async ({ engine }) => {
      await engine.execute(item(LARGE))
      await engine.execute(deleteConfig(sampleKey(LONG), BY))
    },
    run: alone(() => item(LARGE)),
  },
  deleteConfig: {
    prepare: async (server) => {
      await inlineGray(server)
      await server.engine.execute(item(LARGE))
    },
    run: alone(() => deleteConfig(sampleKey(LONG), BY, { comment: 'c'.repeat(512) })),
    done: noGray,
  },
  publishGray: {
    prepare: withGray(LARGE, (index) => (index < 2 ? Buffer.alloc(LARGE.length, String(index)) : INLINE)),
    run: alone(() => grayItem(0, LARGE)),
    done: ({ state }) => {
      const who = { ip: '', labels: new Map([['env', 'v1']]) }
      return viewOf(state, sampleKey(LONG), who)?.content.equals(LARGE) === true
    },
  },
  importGray: {
    prepare: withGray(INLINE, () => INLINE),
    run: alone(() => {
      const rule = { type: 'tagv2', version: '1.0.0', expr: LONG_EXPR, priority: 1 } as const
      const facts = { type: undefined, encryptedDataKey: 'k'.repeat(1_024), operator: BY }
      return importGray(
        { ...GRAY_NAME, ...facts, name: FIRST_GRAY, rule, content: LARGE, md5: 'other' },
        true,
      )
    }),
  },
  growGray: {
    prepare: withGray(INLINE, () => LARGE),
    run: alone(() => growGray({ ...GRAY_NAME, expr: `${LONG_EXPR},more` })),
  },
  promoteGray: { prepare: inlineGray, run: alone(() => promoteGray(GRAY_NAME)), done: noGray },
  stopGray: { prepare: withGray(INLINE, () => LARGE), run: alone(() => stopGray(GRAY_NAME)) },
  forgetDeleted: {
    before: GONE,
    run: ({ engine, state }) =>
      new GoneHistory({
        engine,
        state,
        store: { reads: () => ({ historyThere: async () => [] }) },
      }).forgetBefore(START_MS + 1e12),
    done: ({ state }) => [...state.records(DELETED_CONFIG)].length === 0,
  },
  importConfig: {
    prepare: alone(() => item(LARGE)),
    run: alone(() => importConfig(importedItem(), { overwrite: true, change: pending })),
  },
  importHistory: { run: alone(() => importHistory({ ...importedItem(), ...pending, op: 'I' })) },
  importNamespace: { run: alone(() => importNamespace({ id: LONG, showName: LONG, desc: LONG }, true)) },
  importSwitch: { run: alone(() => importSwitch('batch', allSwitches(), true)) },
  importUser: { run: alone(() => importUser({ ...user(LONG), isAdministrator: true }, true)) },
  importRole: { before: PEOPLE, run: alone(() => importRole({ username: 'boss', role: LONG }, false)) },
  importPermission: {
    before: ROLE,
    run: alone(() => importPermission({ role: LONG, resource: `${'a'.repeat(1_000)}:*:*`, action: 'rw' })),
  },
  createNamespace: { run: alone(() => createNamespace({ id: LONG, showName: LONG, desc: LONG })) },
  updateNamespace: {
    prepare: alone(() => createNamespace({ id: LONG, showName: LONG, desc: LONG })),
    run: alone(() => updateNamespace({ id: LONG, showName: 'other', desc: LONG })),
  },
  deleteNamespace: {
    prepare: alone(() => createNamespace({ id: LONG, showName: LONG, desc: LONG })),
    run: alone(() => deleteNamespace(LONG)),
  },
  setNamespaceLook: { run: alone(() => setNamespaceLook(LONG, { color: 'red', isProtected: true })) },
  setSwitch: {
    prepare: alone(() => setSwitch('batch', allSwitches(), true)),
    run: alone(() => setSwitch('batch', allSwitches(), false)),
  },
  ...LARGEST_OF_NAMING,
}

/** Every switch that can be set. */
function allSwitches(): string {
  const { masters: _, overriddenServerStatus: __, ...others } = DEFAULT_SWITCHES
  return JSON.stringify({ ...others, healthCheckWhiteList: numbers(500).map(nameOf) })
}
