/** For `npm run check`: what files may import (layers.js), and that something uses each file, export and package (unused.js). */
import { ensureInstalled } from './prepare.js'

await ensureInstalled()
const { modulesOfProject } = await import('./module-graph.js')
const { layerFaults } = await import('./layers.js')
const { roomFaults } = await import('./rooms.js')
const { unusedFaults } = await import('./unused.js')
const modules = modulesOfProject()
const faults = [...layerFaults(modules), ...roomFaults(modules), ...unusedFaults(modules)]
console.log([...faults, `${modules.size} modules, ${faults.length} faults`].join('\n'))
process.exitCode = faults.length > 0 ? 1 : 0
