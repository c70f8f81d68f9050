import { describeClient } from './client-program.ts'
import { IN_PYTHON } from './prepared-program.ts'

describeClient(
  {
    ...IN_PYTHON,
    folder: 'python',
    run: (address, scratch) => ['venv/bin/python', 'program.py', address, scratch],
  },
  [
    'config: all items of a namespace are listed',
    'naming: one instance is read and modified',
    'naming: a modified instance that is unknown is registered',
    'naming: a subscriber sees every change',
    'naming: a beat registers an unknown instance',
    'naming: a beat that is late brings nothing back',
  ],
)
