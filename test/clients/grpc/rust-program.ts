import { IN_PYTHON } from '../prepared-program.ts'
import type { LibraryProgram } from './library.ts'
import { PIP_ALONE } from './python-program.ts'

const NOT_BOUND = 'the binding for Python has no such function'
const LATE = 'its instances leave before the library signs in again'
const NO_REMOVAL = 'the library does not tell its listeners of a removal'

/**
 * How many threads the library uses; one by default. It locks the cache of an item while it reads the item again, and each
 * thread that saves an item waits for this lock: when all threads wait, it stops for ever.
 */
const THREADS = 64

/** The library in Rust, as its binding for Python ships it compiled. */
export const RUST: LibraryProgram = {
  ...IN_PYTHON,
  language: 'Rust',
  folder: 'grpc/rust',
  versions: [
    {
      version: '0.8.0',
      says: 'Nacos-Rust-Client:0.8.0',
      lacks: {
        'config: a publish with an old md5 changes nothing': NOT_BOUND,
        'config: a listener that has left hears nothing more': NOT_BOUND,
        'config: a listener hears the removal, and what is published later': NO_REMOVAL,
        '1.x: the removal of an item is heard both ways': NO_REMOVAL,
        'burst: a listener hears the last of 500 changes of an item': 'it stops for ever: see THREADS',
        'naming: a subscriber that has left hears nothing more': NOT_BOUND,
        'naming: the services of a group are listed page by page': NOT_BOUND,
        'naming: the instances of a client that ends are gone at once': NOT_BOUND,
        'no list lacks an instance while it signs in again': LATE,
        'its instances belong to its new connection': LATE,
      },
      lacksTls: 'the binding is built without it',
    },
  ],
  install: [
    ['python3', '-m', 'venv', 'venv'],
    [...PIP_ALONE, '-r', 'requirements.txt'],
  ],
  run: () => ['env', `NACOS_CLIENT_COMMON_THREAD_CORES=${THREADS}`, 'venv/bin/python', 'program.py'],
}
