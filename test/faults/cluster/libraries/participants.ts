import { GO } from '../../../clients/grpc/go-program.ts'
import { JAVA, JAVA_1 } from '../../../clients/grpc/java-program.ts'
import { Library, type LibraryProgram, type LibraryVersion } from '../../../clients/grpc/library.ts'
import { PYTHON } from '../../../clients/grpc/python-program.ts'
import { GO_1, NPM, PYTHON_0 } from '../../../clients/http/http-programs.ts'
import type { ParticipantSpec } from './participant.ts'

/** A version of a library that takes part. */
interface Kind {
  readonly name: string
  readonly program: LibraryProgram
  readonly version: LibraryVersion
  /** The aspects that it fails through a fault of its own, with the reason. */
  readonly excused?: ParticipantSpec['excused']
}

const KINDS: readonly Kind[] = [
  { name: 'java-2.5.1', program: JAVA, version: versionOf(JAVA, '2.5.1') },
  { name: 'go-2.3.5', program: GO, version: versionOf(GO, '2.3.5') },
  { name: 'python-2.0.11', program: PYTHON, version: versionOf(PYTHON, '2.0.11') },
  { name: 'java-1.4.8', program: JAVA, version: JAVA_1 },
  { name: 'go-1.1.6', program: GO_1, version: versionOf(GO_1, '1.1.6') },
  {
    name: 'python-0.1.17',
    program: PYTHON_0,
    version: versionOf(PYTHON_0, '0.1.17'),
    excused: { 'its subscriber hears': 'its timer ends for good with the first question that fails' },
  },
  { name: 'npm-2.6.3', program: NPM, version: versionOf(NPM, '2.6.3') },
]

/** The programs to be prepared. */
export const PROGRAMS: readonly LibraryProgram[] = [...new Set(KINDS.map(({ program }) => program))]

/** Where the servers are: `host:port` of each for HTTP, and of the balancer before them. */
interface Places {
  readonly hosts: readonly string[]
  readonly balancer: string
}

/** The participants: each library once with the list of all servers, and once behind the balancer. */
export function participantsAt({ hosts, balancer }: Places): readonly ParticipantSpec[] {
  return KINDS.flatMap(({ name, program, version, excused = {} }) => [
    { name, library: new Library(program, version), servers: hosts, excused },
    { name: `${name}-balanced`, library: new Library(program, version), servers: [balancer], excused },
  ])
}

function versionOf({ versions }: LibraryProgram, wanted: string): LibraryVersion {
  return versions.find(({ version }) => version === wanted)!
}
