/** What the bench judges and sums, and the figures that the gate keeps. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import {
  figureFaults,
  GATED_FIGURES,
  type KeptFigures,
  keptNumber,
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
import { needTool } from './support/need-tool.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const KEPT = 'bench/gate.json'

function keptWith(reasons: Record<string, string>): KeptFigures {
  return { about: '', figures: { 'costs.list': reasons } }
}

/** The earlier versions of gate.json that this clone has: none where there is no history. */
function earlierVersions(): Partial<KeptFigures>[] {
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    const commits = git('log', '--format=%H', '--', KEPT).split('\n').filter(Boolean)
    return commits.map((commit) => JSON.parse(git('show', `${commit}:${KEPT}`)) as Partial<KeptFigures>)
  } catch {
    return []
  }
}

describe('the figures of the gate', () => {
  test('are kept with a reason each, and have not risen without one', () => {
    const kept = JSON.parse(readFileSync(`${root}/${KEPT}`, 'utf8')) as KeptFigures
    expect(figureFaults(kept, GATED_FIGURES, earlierVersions())).toEqual([])
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

  test('has a figure above 0', () => {
    expect(figureOf({ 'cpu µs': 12.5 }, 'cpu µs')).toBe(12.5)
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
      let left = 0
      const prepare = (): Promise<void> => {
        left = 15
        workLater()
        return Promise.resolve()
      }
      /** All of the time of this process, which plays the server. */
      const workLater = (): void => {
        for (const until = performance.now() + 20; performance.now() < until;);
        if (--left > 0) setTimeout(workLater, 0)
      }
      const measure = (): Promise<Figures> => Promise.resolve({ left })
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
  const server = createServer((request, response) => {
    void text(request).then((form) => forms.add(form))
    request.on('end', () => response.end('ok'))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/svc/v1`
  try {
    const register = closedLoops.find(({ name }) => name === 'register')!
    await register.measure(
      await foundTarget(base)(),
      { quick: true, rounds: 1, seconds: 1, launches: {} },
      -1,
    )
  } finally {
    server.close()
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

  test('are refused where one has no figure', async () => {
    for (const figures of [{}, { list: NaN }, { list: 0 }])
      await expect(lowestOfLooks(['list'], looksOf(figures).judging)).rejects.toThrow('was not measured')
    expect(aboveLimit({ list: NaN }, () => 1.05)).toEqual(['list'])
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
