import { type CommandResult, EXIT } from '../../command/command-line.ts'
import { type EtcdFlags, etcdOf, ofStoppedServer, type StoreCopies } from './stopped-server.ts'

/** `waypost confirm-empty`: tells servers on etcd that the loss of their data there is meant. */
export function confirmEmptyStore(
  copies: Pick<StoreCopies, 'confirmEmpty'>,
  flags: EtcdFlags,
): Promise<CommandResult> {
  return ofStoppedServer(async () => {
    const { place, member, keysLeft } = await copies.confirmEmpty(etcdOf(flags))
    const left = keysLeft === 0 ? 'nothing' : `the ${keysLeft} keys that are left`
    const text =
      `Confirmed: there is ${left} in ${place}. Servers take it for all their data within some seconds` +
      (member === undefined ? '.\n' : `; ${member} has noticed the loss.\n`)
    return { code: EXIT.done, text, json: { place, member, keysLeft } }
  })
}
