import type { DynamicModule, InjectionToken, OptionalFactoryDependency } from '@nestjs/common'
import type { Counting, Quota } from '@scoregw/quota'
import type { HttpMeterOptions, RouteOptions } from '@scoregw/quota/http'
import type { NestRequest } from './adapter.ts'

/** The options of `QuotaModule.forRoot()`. */
export interface QuotaModuleOptions<
  Request extends object = NestRequest,
  Operation extends string = string,
  C extends Counting = Counting,
> extends Omit<HttpMeterOptions<Request, Operation, C>, 'quota'> {
  /** The engine that decides. */
  readonly quota: Quota<Operation, C>
}

/** The options of `QuotaModule.forRootAsync()`. */
export interface QuotaModuleAsyncOptions<Request extends object = NestRequest, Operation extends string = string> {
  /** Modules that export the injected providers. */
  readonly imports?: DynamicModule['imports']
  /** The providers to pass to the factory. */
  readonly inject?: readonly (InjectionToken | OptionalFactoryDependency)[]
  // biome-ignore lint/suspicious/noExplicitAny: the factory says what it is called with, as in Nest's own options
  readonly useFactory: (...injected: any[]) => MaybeAsyncOptions<Request, Operation>
}

type MaybeAsyncOptions<Request extends object, Operation extends string> =
  | QuotaModuleOptions<Request, Operation>
  | Promise<QuotaModuleOptions<Request, Operation>>

/** Options that a route, or all routes of a controller, can set. */
export interface QuotaRouteOptions<Request extends object = NestRequest>
  extends Partial<RouteOptions<Request, Counting>> {
  /**
   * Whether the handler charges its request in the transaction of the work, by the function that `@Charge()` injects. A
   * refusal is thrown, so that the transaction is rolled back, and Nest answers it. Options that settle are then invalid.
   * The app doesn't start with a store that has no transactions.
   *
   * @default false
   */
  readonly inTransaction?: boolean
}
