import { GO } from '../grpc/go-program.ts'
import { JAVA, JAVA_1 } from '../grpc/java-program.ts'
import { Library } from '../grpc/library.ts'
import { PYTHON } from '../grpc/python-program.ts'
import { GO_1, NPM, PYTHON_0 } from '../http/http-programs.ts'
import type { Kind } from './application-calls.ts'

/** A library, and how long it may take. */
export interface SwappedLibrary {
  readonly name: string
  readonly library: Library
  /** How often it asks one server for one call of an application, and how long it waits each time at most (ms). */
  readonly tries: Readonly<Record<Kind, Tries>>
  /** How long after the start of the new server a call may still fail, or show what was before (ms). */
  readonly againMs: number
}

interface Tries {
  readonly count: number
  readonly timeoutMs: number
}

/** The delay that a busy machine adds. */
export const SLACK_MS = 20_000

const same = (count: number, timeoutMs: number): Readonly<Record<Kind, Tries>> => {
  const each = { count, timeoutMs }
  return { publish: each, read: each, register: each, list: each }
}

/** Over gRPC all libraries try three times, and wait 3 s for an answer. */
const OVER_GRPC = same(3, 3_000)

/** The programs that have to be prepared. */
export const SWAP_PROGRAMS = [JAVA, GO, PYTHON, GO_1, PYTHON_0, NPM]

/** The newest versions of each generation. Each number is the default of its library, or what our program gives it. */
export function swappedLibraries(): readonly SwappedLibrary[] {
  const javas = JAVA.versions.filter(({ version }) => version !== '2.0.4')
  return [
    {
      name: 'Java 1.4.8',
      library: new Library(JAVA, JAVA_1),
      // Three tries. Our program gives a read 10 s; a publish and the naming client wait 3 s for a connection.
      tries: { ...same(3, 3_000), read: { count: 3, timeoutMs: 10_000 } },
      againMs: 20_000,
    },
    ...javas.map((version) => ({
      name: `Java ${version.version}`,
      library: new Library(JAVA, version),
      // Our program gives a read 10 s.
      tries: { ...OVER_GRPC, read: { count: 3, timeoutMs: 10_000 } },
      // It looks for its server again after 0.1 s, 0.2 s and so on, at most 5 s.
      againMs: 20_000,
    })),
    {
      name: 'Go 1.1.6',
      library: new Library(GO_1, GO_1.versions[0]!),
      // Three tries of `TimeoutMs`: our program gives 5 s, the default is 10 s.
      tries: same(3, 5_000),
      // Its list is asked for again every 10 s at most, and after failures less often.
      againMs: 30_000,
    },
    {
      name: 'Go 2.3.5',
      library: new Library(GO, GO.versions[0]!),
      // A read waits for `TimeoutMs`: our program gives 20 s, the default is 10 s.
      tries: { ...OVER_GRPC, read: { count: 3, timeoutMs: 20_000 } },
      againMs: 20_000,
    },
    {
      name: 'Python 0.1.17',
      library: new Library(PYTHON_0, PYTHON_0.versions[0]!),
      // One try for each server that it knows, of 3 s.
      tries: same(1, 3_000),
      againMs: 20_000,
    },
    ...PYTHON.versions.map((version) => ({
      name: `Python ${version.version}`,
      library: new Library(PYTHON, version),
      tries: OVER_GRPC,
      againMs: 35_000,
    })),
    {
      name: 'npm 2.6.3',
      library: new Library(NPM, NPM.versions[0]!),
      // `requestTimeout`: a configuration is asked for again and again for 5 s, and the last time may take as long.
      tries: {
        publish: { count: 2, timeoutMs: 5_000 },
        read: { count: 2, timeoutMs: 5_000 },
        register: { count: 1, timeoutMs: 5_000 },
        list: { count: 1, timeoutMs: 5_000 },
      },
      againMs: 30_000,
    },
  ]
}
