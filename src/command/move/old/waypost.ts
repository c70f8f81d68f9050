import type { PlanInstance, PlanService } from '../../../move/plan.ts'
import { fieldsOf } from './fields.ts'
import { JavaV1, serviceParams } from './java-v1.ts'

/** A server of this program. It answers as servers of 1.x do, but its lists may be ahead of its clock. */
export class OldWaypost extends JavaV1 {
  override async instances(service: PlanService): Promise<readonly PlanInstance[]> {
    const beganMs = Date.now()
    const { lastRefTime } = fieldsOf(await this.server.json('/v1/ns/instance/list', serviceParams(service)))
    if (typeof lastRefTime === 'number') this.server.sawClock(lastRefTime, beganMs)
    return super.instances(service)
  }
}
