/**
 * The libraries of 2.x and 3.x, unmodified and all at once: in an outage and a move of one cluster, over TLS, at a server that
 * restarts, and when a signing key leaks.
 */
import { NPM } from '../http/http-programs.ts'
import { describeStages } from '../describe-stages.ts'
import { CLUSTER_STAGE } from './cluster-stage.ts'
import { GO } from './go-program.ts'
import { JAVA } from './java-program.ts'
import { LEAK_STAGE } from './leak-stage.ts'
import { TLS_STAGE } from './plain-scenarios.ts'
import { PYTHON } from './python-program.ts'
import { RESTART_STAGE } from './restart-stage.ts'
import { RUST } from './rust-program.ts'

describeStages({
  title: 'clients over gRPC, unmodified',
  programs: [JAVA, GO, PYTHON, RUST],
  // A leak mostly waits, and so do outages.
  stages: [[LEAK_STAGE], [CLUSTER_STAGE], [TLS_STAGE, RESTART_STAGE]],
  tools: [...NPM.tools, 'openssl', 'go'],
})
