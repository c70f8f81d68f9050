import type { Settings } from '../../settings/settings.ts'

/** Clients add this to the port of HTTP. */
export const GRPC_PORT_OFFSET = 1_000

/** The largest port that there is. */
export const LARGEST_PORT = 65_535

/**
 * The ports for gRPC, in the order of trying; empty if it is off. If HTTP could take any port, gRPC can, too (0). Throws an
 * Error if the port would be too large.
 */
export function grpcPorts(
  { port, grpcPort }: Pick<Settings, 'port' | 'grpcPort'>,
  httpPort: number,
): number[] {
  if (grpcPort !== 'auto') return grpcPort === 0 ? [] : [grpcPort]
  const wanted = httpPort + GRPC_PORT_OFFSET
  const isPossible = wanted <= LARGEST_PORT
  if (port === 0) return isPossible ? [wanted, 0] : [0]
  if (isPossible) return [wanted]
  throw new Error(`there is no port ${wanted} for gRPC: set grpc-port; 0 turns gRPC off`)
}
