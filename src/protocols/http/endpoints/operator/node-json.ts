import { hostPort } from '../../../../core/text/ip-address.ts'
import type { Member } from '../../../../operations/server/operator.ts'

/**
 * The other abilities that Java lists for each server. Here no server asks another by gRPC, and nothing is
 * agreed on by Raft.
 */
const ABILITIES = {
  remoteAbility: { supportRemoteConnection: true, grpcReportEnabled: false },
  configAbility: { supportRemoteMetrics: false },
  namingAbility: { supportJraft: false },
}

/** A server as Java lists it. */
export function nodeJson({ ip, port, alive, lastRefMs }: Member, version: string): object {
  return {
    ip,
    port,
    state: alive ? 'UP' : 'DOWN',
    extendInfo: { lastRefreshTime: lastRefMs, readyToUpgrade: true, supportGrayModel: false, version },
    address: hostPort(ip, port),
    failAccessCnt: 0,
    abilities: ABILITIES,
    grpcReportEnabled: false,
  }
}
