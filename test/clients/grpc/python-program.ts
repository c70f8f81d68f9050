import type { LibraryProgram, LibraryVersion } from './library.ts'

const VERSIONS: readonly LibraryVersion[] = [
  { version: '2.0.11', says: 'Nacos-Python-Client:v2.0.0', signsInLate: true },
  { version: '3.0.4', says: 'Nacos-Python-Client:v3.0.4', signsInLate: true },
]

/** `--no-deps`: 3.0.4 names a package that has nothing to do with it, and newest versions of others that it cannot use. */
const PIP = ['venv/bin/pip', 'install', '-q', '--disable-pip-version-check', '--no-deps'] as const

/** The program with the Python library. */
export const PYTHON: LibraryProgram = {
  folder: 'grpc/python',
  versions: VERSIONS,
  locks: ['requirements.txt'],
  install: [
    ['python3', '-m', 'venv', 'venv'],
    [...PIP, '-r', 'requirements.txt'],
    ...VERSIONS.map(
      ({ version }) => [...PIP, '--target', `lib-${version}`, `nacos-sdk-python==${version}`] as const,
    ),
  ],
  build: [],
  run: (version, scratch) => ['env', `PYTHONPATH=lib-${version}`, 'venv/bin/python', 'program.py', scratch],
}
