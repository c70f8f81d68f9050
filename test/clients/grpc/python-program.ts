import { IN_PYTHON, PIP } from '../prepared-program.ts'
import { type LibraryProgram, type LibraryVersion, tested } from './library.ts'

/** Most servers are of 2.x, and their users have this line of the library. This is its newest. */
const USUAL = '2.0.11'

const ALL: readonly LibraryVersion[] = [
  { version: '2.0.11', says: 'Nacos-Python-Client:v2.0.0', signsInLate: true },
  { version: '3.0.4', says: 'Nacos-Python-Client:v3.0.4', signsInLate: true },
]
const VERSIONS = tested(ALL, USUAL)

/** Installs no dependencies: 3.0.4 names a package that has nothing to do with it, and newest versions of others that it cannot use. */
export const PIP_ALONE = [...PIP, '--no-deps'] as const

/** The program with the Python library. */
export const PYTHON: LibraryProgram = {
  ...IN_PYTHON,
  language: 'Python',
  folder: 'grpc/python',
  versions: VERSIONS,
  install: [
    ['python3', '-m', 'venv', 'venv'],
    [...PIP_ALONE, '-r', 'requirements.txt'],
    ...VERSIONS.map(
      ({ version }) => [...PIP_ALONE, '--target', `lib-${version}`, `nacos-sdk-python==${version}`] as const,
    ),
  ],
  run: (version, scratch) => ['env', `PYTHONPATH=lib-${version}`, 'venv/bin/python', 'program.py', scratch],
}
