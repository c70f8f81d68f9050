import { afterEach, expect, test, vi } from 'vitest'
import { processMemory, processMetrics } from './process-metrics.ts'

afterEach(() => void vi.restoreAllMocks())

test('a system without /proc says nothing of memory, and no metric of the process fails', async () => {
  vi.spyOn(process, 'memoryUsage').mockImplementation(() => {
    throw new Error('ENOENT: no such file or directory, uv_resident_set_memory')
  })
  expect(processMemory()).toEqual({})
  const read = processMetrics().filter(({ name }) => name.includes('memory') || name.includes('heap'))
  expect(read).toHaveLength(4)
  for (const metric of read) expect(await metric.read(), metric.name).toEqual([])
})
