/** The part of the bench that is short and stable enough for every change. It fails on a clear regression. */
import { compiled } from './run.js'

const { gate } = await compiled('gate')
process.exit(
  await gate(process.argv.slice(2)).catch((error) => {
    console.error(error.message)
    return 1
  }),
)
