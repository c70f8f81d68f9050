import { expect, test } from 'vitest'
import { grpcPorts } from './grpc-port.ts'

test('gRPC has the port 1000 above the port of HTTP', () => {
  expect(grpcPorts({ port: 8848, grpcPort: 'auto' }, 8848)).toEqual([9848])
})

test('gRPC has its own port if it is set, and no port if it is 0', () => {
  expect(grpcPorts({ port: 8848, grpcPort: 7000 }, 8848)).toEqual([7000])
  expect(grpcPorts({ port: 8848, grpcPort: 0 }, 8848)).toEqual([])
})

test('where any port is good enough for HTTP, any is for gRPC if the one 1000 above is taken', () => {
  expect(grpcPorts({ port: 0, grpcPort: 'auto' }, 40_000)).toEqual([41_000, 0])
  expect(grpcPorts({ port: 0, grpcPort: 'auto' }, 65_000)).toEqual([0])
})

test('a port that cannot have one 1000 above is refused unless gRPC is off', () => {
  expect(() => grpcPorts({ port: 65_000, grpcPort: 'auto' }, 65_000)).toThrow('set grpc-port')
  expect(grpcPorts({ port: 65_000, grpcPort: 0 }, 65_000)).toEqual([])
})
