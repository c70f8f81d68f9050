import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    globalSetup: 'scripts/global-setup.js',
    // Processes and not threads: tests start servers, use native modules and expect signals.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 15_000,
    hookTimeout: 30_000,
    teardownTimeout: 10_000,
    projects: [
      { extends: true, test: { name: 'all', include: ['src/**/*.test.ts', 'test/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          // What meets the connections of clients, once more the way of versions of Node.js that are not tested.
          name: 'node-streams',
          include: [
            'test/http/**/*.test.ts',
            'test/interface/{bytes,connections,limits,stop,stop-busy}.test.ts',
            'test/security/holes.test.ts',
          ],
          env: { WAYPOST_NODE_STREAMS: 'true' },
        },
      },
    ],
  },
})
