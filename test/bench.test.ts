/** What the bench judges and sums, and the figures that the gate keeps. */
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { describe, expect, test, type TestContext, vi } from 'vitest'
import { type BestBuild, bestFaults } from '../bench/best-build.ts'
import {
  figureFaults,
  GATED_FIGURES,
  type KeptFigures,
  keptNumber,
  limitOf,
  MOST_LOOKS,
  withNumber,
} from '../bench/gate-figures.ts'
import { aboveLimit, lowestOfLooks, type NamedFigures } from '../bench/looks.ts'
import { type CallFrame, type Profile, stacksOf } from '../bench/profile.ts'
import { registerForm } from '../bench/request-text.ts'
import { chosenFrom, measureGroup } from '../bench/rounds.ts'
import { type Figures, figureOf, type Scenario, withoutFailures } from '../bench/scenario.ts'
import { closedLoops } from '../bench/scenarios/closed-loops.ts'
import { stationOf, sumByStation } from '../bench/stations.ts'
import { foundTarget, type Launch } from '../bench/target.ts'
import { git, versionsOf } from './support/git-history.ts'
import { needTool } from './support/need-tool.ts'

/** The processor time of a server that is busy in the next looks. */
const server = vi.hoisted(() => ({ usedMs: 0, busyLooks: 0 }))
vi.mock('../bench/process-usage.ts', () => ({
  processorMs: () => (server.usedMs += server.busyLooks-- > 0 ? 50 : 0),
}))

const root = fileURLToPath(new URL('..', import.meta.url))
const KEPT = 'bench/gate.json'

function keptWith(reasons: Record<string, string>): KeptFigures {
  return { about: '', figures: { 'costs.list': reasons } }
}

/** The contents of a file, and its earlier versions. */
function ofHistory<T>(file: string, skip: TestContext['skip']): [T, readonly Partial<T>[]] {
  const earlier = versionsOf<T>(root, file)
  skip(earlier === undefined, 'this clone has no whole history: git fetch --unshallow gets it')
  return [JSON.parse(readFileSync(`${root}/${file}`, 'utf8')) as T, earlier!]
}

describe('the figures of the gate', () => {
  test('are kept with a reason each', () => {
    const kept = JSON.parse(readFileSync(`${root}/${KEPT}`, 'utf8')) as KeptFigures
    expect(figureFaults(kept, GATED_FIGURES, [])).toEqual([])
  })

  test('have not risen without a reason', ({ skip }) => {
    const [kept, earlier] = ofHistory<KeptFigures>(KEPT, skip)
    expect(figureFaults(kept, GATED_FIGURES, earlier)).toEqual([])
  })

  test('fail a quarter above their numbers, in four looks', () => {
    const kept = {
      'costs.list': '0.80',
      'onEtcd.list': '0.90',
      'leftBytes.publish': '400',
      'leftBytes.list': '6',
    }
    const figures = Object.fromEntries(
      Object.entries(kept).map(([name, number]) => [name, { [number]: 'as it was measured' }]),
    )
    const limits = Object.keys(kept).map((name) => limitOf({ about: '', figures }, name))
    expect(limits).toEqual([1, 1, 500, 64])
    expect(MOST_LOOKS).toBe(4)
  })

  test('need a reason for each number', () => {
    expect(figureFaults(keptWith({ '0.8': 'as it was measured', '0.9': 'so' }), [], [])).toEqual([
      'costs.list does not say why it is 0.9',
    ])
    expect(figureFaults(keptWith({}), [], [])).toEqual([
      'costs.list needs numbers that rise, each with a reason',
    ])
    expect(figureFaults(keptWith({ '0.8': 'as it was measured' }), ['costs.read'], [])).toEqual([
      'costs.read is not kept',
    ])
  })

  test('cannot rise in place of a number that was lower', () => {
    const before = keptWith({ '0.80': 'as it was measured' })
    const replaced = keptWith({ '0.90': 'as it was measured' })
    expect(figureFaults(replaced, [], [before])).toEqual([
      'costs.list has risen from 0.8 to 0.9: keep "0.8", and say after it why it is 0.9',
    ])
    const followed = keptWith({ '0.80': 'as it was measured', '0.90': 'lists have ages now' })
    expect(figureFaults(followed, [], [before])).toEqual([])
    expect(figureFaults(keptWith({ '0.70': 'as it was measured' }), [], [before])).toEqual([])
  })

  test('are replaced by a lower number, and followed by a higher one with its reason', () => {
    const kept = keptWith({ '0.80': 'as it was measured' })
    const lower = withNumber(kept, { name: 'costs.list', text: '0.70' }, undefined)
    expect(lower).toEqual(keptWith({ '0.70': 'as it was measured' }))
    const higher = { name: 'costs.list', text: '0.90' }
    expect(() => withNumber(kept, higher, undefined)).toThrow('costs.list would rise to 0.90')
    expect(keptNumber(withNumber(kept, higher, 'lists have ages now'), 'costs.list')).toBe(0.9)
    expect(keptNumber(kept, 'costs.read')).toBe(Infinity)
  })
})

describe('the best build', () => {
  const first: BestBuild = { about: '', commit: 'aa', reason: 'the comparison began here', before: {} }
  const next: BestBuild = {
    about: '',
    commit: 'bb',
    reason: 'a publish takes 0.85 of the time',
    before: { aa: first.reason },
  }

  test('is a commit with a reason, and descends from those that were named before it', ({ skip }) => {
    const [best, earlier] = ofHistory<BestBuild>('bench/best.json', skip)
    expect(bestFaults(best, earlier)).toEqual([])
    for (const commit of Object.keys(best.before))
      expect(() => git(root, 'merge-base', '--is-ancestor', commit, best.commit)).not.toThrow()
  })

  test('is followed by another one with its proof', () => {
    expect(bestFaults(first, [])).toEqual([])
    expect(bestFaults(next, [first])).toEqual([])
    expect(bestFaults({ ...next, reason: 'it is much cheaper' }, [first])).toEqual([
      'bb does not say how much cheaper it is, such as 0.85',
    ])
    expect(bestFaults({ ...first, reason: 'cheaper' }, [])).toEqual(['aa does not say why it was named'])
  })

  test('does not take the place of another one, and does not return', () => {
    expect(bestFaults({ ...next, before: {} }, [first])).toEqual([
      'aa was named: keep it in "before" with its reason',
    ])
    expect(bestFaults({ ...next, before: { bb: next.reason } }, [])).toEqual(['bb was named before'])
  })
})

describe('the history of a file', () => {
  test('is missing in a shallow clone', () => {
    const directory = mkdtempSync(join(tmpdir(), 'waypost-history-'))
    const [whole, shallow] = [join(directory, 'whole'), join(directory, 'shallow')]
    try {
      git(directory, 'init', '-q', 'whole')
      for (const number of [1, 2]) {
        writeFileSync(join(whole, 'kept.json'), JSON.stringify({ number }))
        git(whole, 'add', 'kept.json')
        git(whole, '-c', 'user.name=t', '-c', 'user.email=t@localhost', 'commit', '-qm', `kept ${number}`)
      }
      git(directory, 'clone', '-q', '--depth', '1', pathToFileURL(whole).href, 'shallow')
      expect(versionsOf(whole, 'kept.json')).toEqual([{ number: 2 }, { number: 1 }])
      for (const place of [shallow, directory]) expect(versionsOf(place, 'kept.json')).toBeUndefined()
    } finally {
      rmSync(directory, { recursive: true })
    }
  })
})

describe('a measurement', () => {
  const result = { counts: [], elapsedMs: 1_000 }

  test('is refused if a request failed, or if none was answered', () => {
    const whole = { ...result, answered: 2_000, failed: 0 }
    expect(withoutFailures('push', whole)).toBe(whole)
    expect(() => withoutFailures('push', { ...result, answered: 1_999, failed: 1 })).toThrow(
      'push: 1 failed, 1999 answered',
    )
    expect(() => withoutFailures('push', { ...result, answered: 0, failed: 0 })).toThrow(
      'push: 0 failed, 0 answered',
    )
  })

  test.each([{}, { 'cpu µs': NaN }, { 'cpu µs': 0 }, { 'cpu µs': Infinity }, { 'cpu µs': -1 }])(
    'has no figure in %o',
    (figures) => {
      expect(() => figureOf(figures, 'cpu µs')).toThrow('it was not measured')
    },
  )

  test('has a figure above 0, or no bytes that are left', () => {
    expect(figureOf({ 'cpu µs': 12.5 }, 'cpu µs')).toBe(12.5)
    expect([
      figureOf({ 'left B': 0 }, 'left B'),
      figureOf({ 'leftBytes.list': 0 }, 'leftBytes.list'),
    ]).toEqual([0, 0])
    expect(() => figureOf({ 'left B': -1 }, 'left B')).toThrow('it was not measured')
  })
})

describe('the requested scenarios', () => {
  const scenario = (name: string, own: Partial<Scenario> = {}): Scenario => ({
    name,
    about: '',
    kinds: ['ours'],
    measure: () => Promise.resolve({}),
    ...own,
  })
  const all = [
    scenario('grpc-push'),
    scenario('grpc-all', { long: true }),
    scenario('grpc-most', { ownName: true, long: true }),
  ]
  const namesOf = (...only: string[]): string[] =>
    chosenFrom(all, { only, quick: false }).map(({ name }) => name)

  test('are named by their beginnings, but for those that need their own names', () => {
    expect(namesOf('grpc')).toEqual(['grpc-push', 'grpc-all'])
    expect(namesOf('grpc-most')).toEqual(['grpc-most'])
    expect(() => namesOf('grpc-m')).toThrow('There is no scenario "grpc-m"')
  })

  test('are without the long ones where none is named', () => {
    expect(chosenFrom(all, { only: undefined, quick: false }).map(({ name }) => name)).toEqual(['grpc-push'])
  })
})

describe('servers of a scenario', () => {
  test.each([true, false])(
    'are at rest before they are measured (new ones in each round: %s)',
    async (freshRounds) => {
      const prepare = (): Promise<void> => {
        server.busyLooks = 3
        return Promise.resolve()
      }
      const measure = (): Promise<Figures> => Promise.resolve({ left: Math.max(0, server.busyLooks) })
      const scenario: Scenario = { name: 'rest', about: '', kinds: ['ours'], freshRounds, prepare, measure }
      const ours: Launch = async () => ({ ...(await foundTarget('http://nowhere')()), pid: process.pid })
      const bench = { quick: true, rounds: 1, seconds: 1, launches: { ours } }
      const [result] = await measureGroup([scenario], bench, 1)
      expect(result!.rows).toEqual([{ target: 'nowhere', rounds: [{ left: 0 }] }])
    },
  )
})

test('registrations in closed loops have instances that do not expire', async ({ skip }) => {
  const { skip: isMissing, reason } = needTool('wrk')
  skip(isMissing, reason)
  const forms = new Set<string>()
  const http = createServer((request, response) => {
    void text(request).then((form) => forms.add(form))
    request.on('end', () => response.end('ok'))
  })
  await once(http.listen(0, '127.0.0.1'), 'listening')
  const base = `http://127.0.0.1:${(http.address() as AddressInfo).port}/svc/v1`
  try {
    const register = closedLoops.find(({ name }) => name === 'register')!
    await register.measure(
      await foundTarget(base)(),
      { quick: true, rounds: 1, seconds: 1, launches: {} },
      -1,
    )
  } finally {
    http.close()
  }
  const set = { base: 'register', count: 20_000, perService: 10, lasting: true }
  expect(forms.has(registerForm(set, 1, 0))).toBe(true)
})

describe('looks', () => {
  /** Looks with these results, one after the other; `asked` has the names of each. */
  function looksOf(...results: NamedFigures[]) {
    const asked: string[][] = []
    const look = async (names: readonly string[]): Promise<NamedFigures> => {
      asked.push([...names])
      return await Promise.resolve(results[asked.length - 1]!)
    }
    return { asked, judging: { mostLooks: 2, look, limitOf: () => 1.05 } }
  }

  test('are repeated only for what is above its limit', async () => {
    const { asked, judging } = looksOf({ list: 1.2, read: 1 }, { list: 1.01 })
    const lowest = await lowestOfLooks(['list', 'read'], judging)
    expect(asked).toEqual([['list', 'read'], ['list']])
    expect(lowest).toEqual({ list: 1.01, read: 1 })
    expect(aboveLimit(lowest, judging.limitOf)).toEqual([])
  })

  test('fail what is above in each of them', async () => {
    const { asked, judging } = looksOf({ list: 1.06, read: 1 }, { list: 1.2 })
    const lowest = await lowestOfLooks(['list', 'read'], judging)
    expect(asked).toHaveLength(2)
    expect(aboveLimit(lowest, judging.limitOf)).toEqual(['list'])
  })

  test('end with the first one where nothing is above', async () => {
    const { asked, judging } = looksOf({ list: 1.05 })
    await lowestOfLooks(['list'], judging)
    expect(asked).toHaveLength(1)
  })

  test('are refused where none has a figure', async () => {
    for (const figures of [{}, { list: NaN }, { list: 0 }])
      await expect(lowestOfLooks(['list'], looksOf(figures, figures).judging)).rejects.toThrow(
        'was not measured',
      )
    expect(aboveLimit({ list: NaN }, () => 1.05)).toEqual(['list'])
  })

  test('go on after one that failed', async () => {
    const { asked, judging } = looksOf({}, { list: 1 })
    expect(await lowestOfLooks(['list'], judging)).toEqual({ list: 1 })
    expect(asked).toEqual([['list'], ['list']])
  })

  test('keep what was above where the last one failed', async () => {
    const { judging } = looksOf({ list: 1.2, read: 1 }, {})
    expect(await lowestOfLooks(['list', 'read'], judging)).toEqual({ list: 1.2, read: 1 })
  })
})

describe('the stations of a profile', () => {
  const frame = (functionName: string, url = ''): CallFrame => ({
    functionName,
    url,
    lineNumber: 0,
    columnNumber: 0,
  })
  const nameOf = ({ functionName, url }: CallFrame): string =>
    url === '' ? functionName : `${url}#${functionName}`
  const frames = {
    http: frame('answer', 'src/protocols/http/routing/router.ts'),
    engine: frame('run', 'src/core/engine/sole-engine.ts'),
    toText: frame('toString', 'node:buffer'),
  }
  const profile: Profile = {
    nodes: [
      { id: 1, callFrame: frame('(root)'), children: [2, 5, 6] },
      { id: 2, callFrame: frames.http, children: [3] },
      { id: 3, callFrame: frames.engine, children: [4] },
      { id: 4, callFrame: frames.toText },
      { id: 5, callFrame: frame('(idle)') },
      { id: 6, callFrame: frame('(program)') },
    ],
    samples: [2, 3, 4, 5, 6, 2],
    timeDeltas: [100, 10, 20, 30, 40, 50],
  }

  test('have the time from each sample to the next', () => {
    const times = stacksOf(profile).map(({ frames: [innermost], us }) => [innermost!.functionName, us])
    expect(times).toEqual([
      ['answer', 10],
      ['run', 20],
      ['toString', 30],
      ['(idle)', 40],
      ['(program)', 50],
    ])
  })

  test('have the time of the functions of Node.js that they call, and no rest', () => {
    expect(Object.fromEntries(sumByStation({ main: { profile, usedUs: 110 }, others: [] }, nameOf))).toEqual({
      HTTP: 10,
      engine: 50,
      'system, native code': 50,
    })
  })

  test('have processor time: without the time of other processes, and without waiting for the disk', () => {
    const worker: Profile = {
      nodes: [
        { id: 1, callFrame: frame('(root)'), children: [2, 3] },
        { id: 2, callFrame: frame('write', 'src/store/embedded/rows/row-writer.ts') },
        { id: 3, callFrame: frame('run', 'node_modules/libsql/index.js') },
      ],
      samples: [2, 3, 2],
      timeDeltas: [0, 40, 1_000],
    }
    const server = { main: { profile, usedUs: 55 }, others: [{ profile: worker, usedUs: 100 }] }
    expect(Object.fromEntries(sumByStation(server, nameOf))).toEqual({
      HTTP: 5,
      engine: 25,
      'system, native code': 25,
      rows: 20,
      SQLite: 80,
    })
  })

  test('are the first that fits, from the innermost function outwards', () => {
    expect(stationOf([frames.toText, frames.engine, frames.http], nameOf)).toBe('engine')
    expect(stationOf([frame('(garbage collector)'), frames.http], nameOf)).toBe('garbage')
    expect(stationOf([frame('unknown')], nameOf)).toBe('other')
    expect(stationOf([frame('(idle)')], nameOf)).toBeUndefined()
  })
})
