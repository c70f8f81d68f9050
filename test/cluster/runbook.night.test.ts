/** The commands of docs/cluster.md, run on machines as the page has them. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { needSmallDisk, SmallDisk } from '../faults/disks/small-disk.ts'
import { clientsOf, type Json, type Reply, until } from '../interface/client.ts'
import { ETCD_HOOK_MS, etcdTools } from '../support/etcd.ts'
import { Machines } from '../support/machines.ts'
import { needTool } from '../support/need-tool.ts'

const PAGE = readFileSync(fileURLToPath(new URL('../../docs/cluster.md', import.meta.url)), 'utf8')
const tools = needTool('bash', 'curl')
const disk = needSmallDisk()
const skip = etcdTools.skip || tools.skip
const note = skip ? ` (${etcdTools.reason || tools.reason})` : ''
const LIMIT_MS = 90_000

/** Commands, and the machines that run them one after the other. */
interface Block {
  readonly machines: readonly number[]
  readonly commands: string
}

let machines: Machines

/** The blocks under a heading of the page. */
function blocksOf(heading: string): Block[] {
  const from = PAGE.search(new RegExp(`^##+ ${heading}$`, 'm'))
  if (from < 0) throw new Error(`The page has no heading ${heading}.`)
  const [text = ''] = PAGE.slice(from + 3).split(/^##/m, 1)
  return [...text.matchAll(/^```sh\n# on ([^\n]*)\n([\s\S]*?)^```/gm)].map(([, hosts, commands]) => ({
    machines: hosts!.split(', ').map((host) => Number(host.split('.').at(-1))),
    commands: commands!,
  }))
}

/** Runs a block on each of its machines. `later`: by how much their last numbers are higher than those of the page. */
async function runBlock({ machines: numbers, commands }: Block, later = 0): Promise<string> {
  const changed = commands.replaceAll(/10\.0\.0\.(\d)/g, (_, number) => `10.0.0.${Number(number) + later}`)
  const outputs: string[] = []
  for (const number of numbers) outputs.push(await machines.run(changed, number + later))
  return outputs.join('\n')
}

/** Runs everything under a heading. */
async function run(heading: string, later = 0): Promise<string> {
  const outputs: string[] = []
  for (const block of blocksOf(heading)) outputs.push(await runBlock(block, later))
  return outputs.join('\n')
}

type Texts = Readonly<Record<string, string>>

/** Starts the three machines of the page; `etcd` and `settings`: what is other than there. */
async function startMachines(etcd: Texts = {}, settings: Texts = {}): Promise<void> {
  const [etcdFile] = blocksOf('Runbook')
  const endpoints = [1, 2, 3].map((number) => `http://${machines.host(number)}:2379`).join(',')
  for (const number of [1, 2, 3]) {
    // Settings that name the machine itself differ; the list of all is the same.
    const lines = etcdFile!.commands.split('\n').map((line) => {
      return line.startsWith('ETCD_INITIAL_CLUSTER=') ? line : line.replaceAll('10.0.0.1', `10.0.0.${number}`)
    })
    await machines.run(lines.join('\n'), number)
    for (const [name, value] of Object.entries(etcd))
      await machines.run(`echo ${name}=${value} >> /etc/default/etcd`, number)
    const conf = {
      store: 'etcd',
      'etcd-endpoints': endpoints,
      host: machines.host(number),
      'data-dir': machines.file(number, '/var/lib/waypost/data'),
      ...settings,
    }
    const text = Object.entries(conf).map(([name, value]) => `${name}=${value}\n`)
    writeFileSync(machines.file(number, '/etc/waypost/waypost.conf'), text.join(''))
    await machines.start(number, 'etcd')
  }
  for (const number of [1, 2, 3]) await machines.start(number, 'waypost')
  for (const number of [1, 2, 3]) await answers(number)
}

const urlOf = (number: number): string => `http://${machines.host(number)}:8848`
const itemAt = async (number: number, dataId: string): Promise<Reply> =>
  clientsOf(urlOf(number)).svc.get('/cs/configs', { dataId, group: 'G' })

/** The server of a machine is ready, and nothing is wrong. */
async function answers(number: number): Promise<void> {
  await until(
    async () => fetch(`${urlOf(number)}/readyz`).then((reply) => reply.text(), String),
    (text) => text === '{"ready":true}',
    LIMIT_MS,
  )
}

/** Publishes an item, as often as needed until it is taken. */
async function publish(number: number, dataId: string, content = dataId): Promise<void> {
  const item = { dataId, group: 'G', content }
  await until(
    () => clientsOf(urlOf(number)).svc.post('/cs/configs', item),
    ({ status }) => status === 200,
    LIMIT_MS,
  )
}

/** The machines of the servers that are members, as one member sees it. */
async function membersAt(number: number): Promise<string[]> {
  const { members } = (await clientsOf(urlOf(number)).svc.get('/operator/cluster')).json()
  const alive = (members as Json[]).filter((member) => member.alive)
  return alive.map(({ ip }) => ip as string).sort()
}

/** These machines, and no others, are one installation that has these items and takes more. */
async function workTogether(numbers: readonly number[], ...items: readonly string[]): Promise<void> {
  for (const number of numbers) {
    await answers(number)
    for (const dataId of items) expect((await itemAt(number, dataId)).text).toBe(dataId)
    await publish(number, `by ${number}`.replace(' ', '-'))
  }
  for (const at of numbers)
    for (const by of numbers)
      await until(
        () => itemAt(at, `by-${by}`),
        ({ status }) => status === 200,
        LIMIT_MS,
      )
  const hosts = numbers.map((number) => machines.host(number))
  // A lost server is a member until its lease has ended.
  await until(
    () => membersAt(numbers[0]!),
    (members) => members.join() === hosts.join(),
    LIMIT_MS,
  )
  const listed = await machines.run(
    `etcdctl --endpoints http://10.0.0.${numbers[0]}:2379 member list`,
    numbers[0]!,
  )
  const peers = [...listed.matchAll(/started, [^,]*, http:\/\/([\d.]+):2380/g)].map(([, host]) => host)
  expect(peers.sort()).toEqual(hosts)
}

const etcdctl = (command: string): Promise<string> =>
  machines.run(`cd /var/lib/waypost && export ETCDCTL_ENDPOINTS=http://10.0.0.1:2379; etcdctl ${command}`, 1)

async function warns(number: number, code: string): Promise<void> {
  await until(
    async () => fetch(`${urlOf(number)}/readyz`).then((reply) => reply.text(), String),
    (text) => text.includes(code),
    LIMIT_MS,
  )
}

/** All members of etcd come back without data, and all servers notice it. */
async function loseData(): Promise<void> {
  for (const number of [1, 2, 3]) await machines.run('systemctl stop etcd', number)
  for (const number of [1, 2, 3])
    await machines.run('rm -r /var/lib/etcd/data && systemctl --no-block start etcd', number)
  for (const number of [1, 2, 3]) await warns(number, 'store-empty')
}

/** The third member of etcd has another value than the two others, at the same revision. */
async function makeDiffer(): Promise<void> {
  const revisions: Record<string, number> = {}
  for (const value of ['one', 'two']) {
    const saved = await etcdctl(`put other ${value}
      etcdctl snapshot save ${value}.db
      etcdutl snapshot status ${value}.db -w json`)
    revisions[value] = Number(/"revision":(\d+)/.exec(saved)![1])
  }
  for (const number of [1, 2, 3]) {
    const value = number === 3 ? 'one' : 'two'
    await machines.run(
      `systemctl stop etcd
      rm -r /var/lib/etcd/data
      [ $MACHINE = 10.0.0.1 ] || scp 10.0.0.1:/var/lib/waypost/${value}.db /var/lib/waypost/${value}.db
      . /etc/default/etcd
      etcdutl snapshot restore /var/lib/waypost/${value}.db --bump-revision ${1_000_000_000 - revisions[value]!} \
        --mark-compacted --name $ETCD_NAME --initial-cluster $ETCD_INITIAL_CLUSTER \
        --initial-advertise-peer-urls $ETCD_INITIAL_ADVERTISE_PEER_URLS --data-dir /var/lib/etcd/data`,
      number,
    )
  }
  for (const number of [1, 2, 3]) await machines.run('systemctl --no-block start etcd', number)
}

describe.skipIf(skip)(`the runbook${note}`, { timeout: 6 * LIMIT_MS }, () => {
  beforeEach(async () => {
    machines = new Machines()
    await machines.open()
  }, ETCD_HOOK_MS)
  afterEach(() => machines.close(), 60_000)

  test('shows how all are', async () => {
    await startMachines()
    const shown = await run('Look first')
    expect(shown.match(/\{"ready":true\}/g)).toHaveLength(3)
    for (const number of [1, 2, 3]) expect(shown).toContain(`${machines.host(number)}:8848`)
  })

  test('replaces a lost machine', async () => {
    await startMachines()
    await publish(1, 'before')
    await machines.lose(3)
    await run('A lost machine')
    await workTogether([1, 2, 4], 'before')
  })

  test('makes one member of what is left of a lost majority', async () => {
    await startMachines()
    await publish(1, 'before')
    await machines.lose(2)
    await machines.lose(3)
    await run('A lost majority')
    await workTogether([1], 'before')
  })

  test('replaces all machines, one after the other, while all work', async () => {
    await startMachines()
    await publish(1, 'before')
    for (const round of [0, 1, 2]) await run('Replacing all machines', round)
    await workTogether([4, 5, 6], 'before')
  })

  test('restores a snapshot beside running servers', async () => {
    await startMachines()
    await publish(1, 'before')
    const [save, ...restore] = blocksOf('Restore etcd from a snapshot')
    await runBlock(save!)
    // Data written after the snapshot is gone, and a server that is started after it stops once and works again.
    await publish(2, 'after')
    await machines.service(3, 'waypost').stop()
    machines.service(3, 'waypost').start()
    await answers(3)
    for (const block of restore) await runBlock(block)
    await workTogether([1, 2, 3], 'before')
    for (const number of [1, 2, 3]) expect((await itemAt(number, 'after')).status).toBe(404)
    expect(machines.service(3, 'waypost').output()).toContain('has taken the place')
  })

  test('restores a backup into an etcd that has lost everything, or confirms the loss', async () => {
    await startMachines()
    await publish(1, 'before')
    const [backup, restore, confirm] = blocksOf('An empty etcd')
    await runBlock(backup!)
    await loseData()
    await runBlock(restore!)
    await workTogether([1, 2, 3], 'before')
    await loseData()
    await runBlock(confirm!)
    await workTogether([1, 2, 3])
    for (const number of [1, 2, 3]) expect((await itemAt(number, 'before')).status).toBe(404)
  })

  test('finds the member that differs, and replaces it', async () => {
    await startMachines()
    await publish(1, 'before')
    const [compare, look, stop, lift] = blocksOf('Members that differ')
    for (const number of compare!.machines)
      await runBlock({ machines: [number], commands: compare!.commands.replace('1h', '2s') })
    await answers(1)
    await makeDiffer()
    const shown = await until(
      () => runBlock(look!),
      (text) => text.includes('CORRUPT'),
      LIMIT_MS,
    )
    const hashes = [...shown.matchAll(/:2379, (\d+)/g)].map(([, hash]) => hash)
    expect([hashes[0] === hashes[1], hashes[0] === hashes[2]]).toEqual([true, false])
    const refused = await until(
      () => clientsOf(urlOf(1)).svc.post('/cs/configs', { dataId: 'refused', group: 'G', content: 'x' }),
      ({ text }) => text.includes('CORRUPT'),
      LIMIT_MS,
    )
    expect(refused.status).toBe(500)
    expect((await itemAt(1, 'before')).text).toBe('before')
    for (const number of [1, 2, 3]) await warns(number, 'etcd-corrupt')
    await runBlock(stop!)
    await runBlock(lift!)
    await machines.lose(3)
    await run('A lost machine')
    await workTogether([1, 2, 4], 'before')
  })

  test('puts the layout back', async () => {
    await startMachines()
    await publish(1, 'before')
    await etcdctl('del waypost/format')
    for (const number of [1, 2, 3]) await warns(number, 'store-empty')
    await run('A missing format')
    await workTogether([1, 2, 3], 'before')
  })

  test('mends damaged keys, or takes what is sound to another prefix', async () => {
    await startMachines()
    await publish(1, 'before')
    await publish(1, 'damaged', 'a text\nof two lines\n')
    const [item, keys, ...salvage] = blocksOf('A damaged key')
    const damage = async (): Promise<void> => {
      await etcdctl(`get --print-value-only waypost/c/public/G/damaged | sed '1s/.*/{"facts":{}}/' | head -c -1 > value
        etcdctl put waypost/c/public/G/damaged < value`)
      for (const key of ['s/public/DEFAULT_GROUP@@damaged', 'r/user/damaged', 'b/10.0.0.9:8848'])
        await etcdctl(`put waypost/${key} '{}'`)
      await etcdctl("put $'waypost/s/\\xff' x")
      for (const number of [1, 2, 3]) await warns(number, 'damaged')
    }
    await damage()
    await runBlock(item!)
    expect((await itemAt(2, 'damaged')).text).toBe('a text\nof two lines\n')
    expect(await runBlock(keys!)).toContain('The store is sound')
    await workTogether([1, 2, 3], 'before')
    await damage()
    for (const block of salvage) await runBlock(block)
    await workTogether([1, 2, 3], 'before')
    expect((await itemAt(1, 'damaged')).status).toBe(404)
  })

  test('frees a full etcd, and the servers write again by themselves', async () => {
    await startMachines({ ETCD_QUOTA_BACKEND_BYTES: String(32 * 1024 * 1024) }, { 'store-reserve': '0' })
    await publish(1, 'before')
    const put = `dd if=/dev/urandom bs=1M count=1 2> /dev/null | base64 -w 0 | head -c 1000000 |
      etcdctl --endpoints http://10.0.0.1:2379 put other > /dev/null`
    // Each put replaces the last one, so compaction frees all but one.
    await machines.run(
      `while ${put}; do :; done 2> /dev/null; etcdctl --endpoints http://10.0.0.1:2379 alarm list | grep NOSPACE`,
      1,
    )
    const refused = await until(
      () => clientsOf(urlOf(2)).svc.post('/cs/configs', { dataId: 'refused', group: 'G', content: 'x' }),
      ({ status }) => status === 507,
      LIMIT_MS,
    )
    expect(refused.text).toContain('disarm the alarm')
    await run('A full quota')
    await workTogether([1, 2, 3], 'before')
  })

  test.each(['Defragment', 'A slow disk'])('does what it says without a loss: %s', async (heading) => {
    await startMachines()
    await publish(1, 'before')
    await run(heading)
    await workTogether([1, 2, 3], 'before')
  })

  test.skipIf(disk.skip)(
    `starts a member again whose disk was full${disk.skip ? ` (${disk.reason})` : ''}`,
    async () => {
      const small = new SmallDisk(join(machines.file(3, '/var/lib/etcd/data'), '..'), 200)
      try {
        await startMachines()
        await publish(1, 'before')
        mkdirSync(machines.file(3, '/var/lib/etcd/data.old'))
        small.fillUpTo(1024 * 1024, machines.file(3, '/var/lib/etcd/data.old/large'))
        const etcd = machines.service(3, 'etcd')
        for (let n = 0; etcd.failures === 0; n++)
          await publish(1 + (n % 2), `large-${n % 8}`, `${n} ${'x'.repeat(1_000_000)}`)
        await publish(2, 'without')
        await run('A full disk')
        await workTogether([1, 2, 3], 'before', 'without')
      } finally {
        await machines.service(3, 'etcd').kill()
        small.close()
      }
    },
  )

  test('goes back to one server', async () => {
    await startMachines()
    await publish(1, 'before')
    await run('Going back to one server')
    expect((await itemAt(1, 'before')).text).toBe('before')
    await publish(1, 'after')
    const { members } = (await clientsOf(urlOf(1)).svc.get('/operator/cluster')).json()
    expect(members).toHaveLength(1)
  })
})
