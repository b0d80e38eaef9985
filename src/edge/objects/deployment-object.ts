import { DurableObject } from 'cloudflare:workers'
import { webHost } from '../../platform/web.ts'
import type { ErrorCode } from '../../ports/errors.ts'
import { answerRefusals } from '../replica/refusal.ts'
import { PARTS, type Part, PartHealth, type PartState } from '../rows/part-health.ts'
import { TokenBuckets } from '../rows/token-buckets.ts'
import type { Ask } from '../rows/token-lease.ts'
import type { EdgeBindings } from './bindings.ts'
import { DEPLOYMENT } from './deployment-name.ts'
import {
  type DeploymentSettings,
  deploymentBudgets,
  granted,
  grantedOf,
  type TenantBudgets,
  tenantBuckets,
} from './settings.ts'
import { widerBudget } from './wider-budget.ts'

/**
 * What a deployment has once: a budget over all of its users, and what their objects say of models,
 * alarms and queues that fail. Under the name of a tenant it has the budgets of that tenant, whose
 * tokens it takes in advance of the deployment's. It is asked rarely: users' objects take tokens in
 * advance, and say of a part once a minute at most that it fails.
 *
 * Extend it to set the budget, by overriding {@link settings}; export the class from the Worker and
 * bind it as `DEPLOYMENT`. Where it is not bound, there is no such budget, and nobody knows of
 * failures but the log.
 */
export abstract class DeploymentObject<Env = EdgeBindings> extends DurableObject<Env> {
  static {
    answerRefusals(DeploymentObject)
  }

  readonly #health = new PartHealth(this.ctx.storage, webHost.now)
  #buckets: TokenBuckets | undefined

  /** Contract: asked at its first call after the object woke. */
  protected abstract settings(): DeploymentSettings

  /**
   * Tokens of the model for a user's object, or for that of a tenant, whose budgets come along.
   *
   * @throws ERR_RATE_LIMIT, ERR_LIMIT, ERR_OVERLOADED
   */
  async lease(ask: Ask, tenant?: TenantBudgets): Promise<number> {
    if (tenant) return this.#leaseOf(tenant, ask)
    this.#buckets ??= new TokenBuckets(
      this.ctx.storage,
      deploymentBudgets(this.settings().budgets),
      webHost.now,
    )
    return granted(this.#buckets, 'deploymentModelTokens', ask)
  }

  /** Counts a session of a tenant. @throws ERR_RATE_LIMIT */
  async admit(tenant: TenantBudgets): Promise<void> {
    this.#bucketsOf(tenant).take('tenantSessions', 1)
  }

  async #leaseOf(tenant: TenantBudgets, ask: Ask): Promise<number> {
    const { DEPLOYMENT: deployments } = this.env as EdgeBindings
    const wider = deployments && widerBudget(this.ctx.storage, ask, () => deployments.getByName(DEPLOYMENT))
    return grantedOf(this.#bucketsOf(tenant), 'tenantModelTokens', ask, wider)
  }

  /** As its budgets are now: they may change while the object is awake. */
  #bucketsOf(tenant: TenantBudgets): TokenBuckets {
    return new TokenBuckets(this.ctx.storage, tenantBuckets(tenant), webHost.now)
  }

  /** What an object says of a part; without a code it works again. */
  async report(part: Part, code?: ErrorCode): Promise<void> {
    if (code === undefined) this.#health.passed(part)
    else this.#health.failed(part, code)
  }

  /** How the parts are. */
  async health(): Promise<{ readonly [Name in Part]: PartState }> {
    const states = PARTS.map((part) => [part, this.#health.of(part)] as const)
    return Object.fromEntries(states) as { [Name in Part]: PartState }
  }
}
