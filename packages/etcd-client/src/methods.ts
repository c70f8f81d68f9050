import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import type { DescMethod, MessageInitShape, MessageShape } from '@bufbuild/protobuf'
import { KV, Lease, Maintenance, Watch } from './generated/rpc_pb.js'
import type { Txn, TxnResult } from './messages.ts'
import { authenticateBytes, readToken, readTxnResult, txnBytes } from './wire-messages.ts'

/** A method of etcd: its path, and how its messages are written and read. */
export interface Method<Request, Response> {
  readonly path: string
  /** Whether a member that has lost its leader refuses at once, instead of after several seconds. */
  readonly needsLeader: boolean
  readonly encode: (request: Request) => Uint8Array
  readonly decode: (bytes: Uint8Array) => Response
}

/** The methods that are used. */
export const METHODS = {
  range: generated(KV.method.range),
  /** A range as this member has it, whether it has a leader or not. */
  localRange: { ...generated(KV.method.range), needsLeader: false },
  txn: {
    ...generated(KV.method.txn),
    encode: txnBytes,
    decode: readTxnResult,
  } satisfies Method<Txn, TxnResult>,
  compact: generated(KV.method.compact),
  leaseGrant: generated(Lease.method.leaseGrant),
  leaseRevoke: generated(Lease.method.leaseRevoke),
  leaseKeepAlive: generated(Lease.method.leaseKeepAlive),
  watch: generated(Watch.method.watch),
  authenticate: {
    path: '/etcdserverpb.Auth/Authenticate',
    needsLeader: true,
    encode: authenticateBytes,
    decode: readToken,
  } satisfies Method<{ name: string; password: string }, string>,
  status: { ...generated(Maintenance.method.status), needsLeader: false },
}

/** A method with messages of the generated code. */
function generated<M extends DescMethod>(
  method: M,
): Method<MessageInitShape<M['input']>, MessageShape<M['output']>> {
  const { input, output } = method as { input: M['input']; output: M['output'] }
  return {
    path: `/${method.parent.typeName}/${method.name}`,
    needsLeader: true,
    encode: (request) => toBinary(input, create(input, request)),
    decode: (bytes) => fromBinary(output, bytes) as MessageShape<M['output']>,
  }
}
