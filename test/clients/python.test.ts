import { describeClient } from './client-program.ts'

describeClient(
  {
    folder: 'python',
    tools: ['python3'],
    locks: ['requirements.txt'],
    install: [
      ['python3', '-m', 'venv', 'venv'],
      ['venv/bin/pip', 'install', '-q', '--disable-pip-version-check', '-r', 'requirements.txt'],
    ],
    build: [],
    run: (address, scratch) => ['venv/bin/python', 'program.py', address, scratch],
  },
  [
    'config: published content is read back',
    'config: an update replaces the content',
    'config: awkward content comes back byte for byte',
    'config: a large content comes back',
    'config: what does not exist is absent',
    'config: a removed item is absent',
    'config: namespaces and groups are separate',
    'config: a watcher sees changes made elsewhere',
    'config: a watcher in a namespace sees changes made elsewhere',
    'config: all items of a namespace are listed',
    'naming: a registered instance is listed with all it says',
    'naming: an unknown service has no instances',
    'naming: clusters select instances',
    'naming: healthy and enabled instances are selected',
    'naming: groups and namespaces are separate',
    'naming: a deregistered instance leaves the list',
    'naming: one instance is read and modified',
    'naming: a modified instance that is unknown is registered',
    'naming: a subscriber sees every change',
    'naming: beats keep an instance',
    'naming: a beat registers an unknown instance',
  ],
)
