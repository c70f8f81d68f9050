/** The libraries of 1.x over HTTP, unmodified and all at once: while their tokens expire and the server restarts, and with much to send. */
import { describeStages } from '../describe-stages.ts'
import { JAVA, JAVA_1 } from '../grpc/java-program.ts'
import { GO_1, NPM, PYTHON_0 } from './http-programs.ts'
import { LARGE_STAGE, LASTING_STAGE } from './signed-in-stages.ts'

describeStages({
  title: 'clients over HTTP, unmodified',
  programs: [{ ...JAVA, versions: [JAVA_1] }, NPM, GO_1, PYTHON_0],
  stages: [[LASTING_STAGE], [LARGE_STAGE]],
})
