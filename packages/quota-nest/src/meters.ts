import { Inject, Injectable, type OnModuleInit, type Type } from '@nestjs/common'
import { DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core'
import { HttpMeter, type HttpMeterOptions } from '@scoregw/quota/http'
import { NEST, type NestRequest } from './adapter.ts'
import type { QuotaModuleOptions } from './options.ts'

/** What `@Quota()` stores for a route. */
export interface QuotaOfRoute {
  /** `false`: the route isn't metered. */
  readonly operation: string | false
  readonly options?: { readonly inTransaction?: boolean }
}

/** The metadata key of `@Quota()`. */
export const QUOTA_OF_ROUTE = 'scoregw:quota'
/** Injection token of the module's options. */
export const QUOTA_OPTIONS: unique symbol = Symbol('options of QuotaModule')

/** Meters by route, made from their `@Quota()`. */
export class QuotaMeters implements OnModuleInit {
  readonly whole: HttpMeter<NestRequest>
  readonly #discovery: DiscoveryService
  readonly #reflector: Reflector
  readonly #known = new WeakMap<QuotaOfRoute, HttpMeter<NestRequest>>()
  readonly #inTransaction = new WeakSet<HttpMeter<NestRequest>>()

  /** @throws {QuotaError} `invalid_options` naming every fault */
  constructor(options: QuotaModuleOptions, discovery: DiscoveryService, reflector: Reflector) {
    this.whole = new HttpMeter(options as HttpMeterOptions<NestRequest>, NEST)
    this.#discovery = discovery
    this.#reflector = reflector
  }

  /** Makes the meters of all routes, so that a faulty route throws at startup and not with its first request. */
  onModuleInit(): void {
    const scanner = new MetadataScanner()
    for (const { metatype } of this.#discovery.getControllers()) {
      if (metatype === null) continue
      const prototype = metatype.prototype as Readonly<Record<string, () => unknown>>
      for (const name of scanner.getAllMethodNames(prototype))
        this.of(prototype[name] as () => unknown, metatype as Type)
    }
  }

  /** Returns the meter of a route; `undefined`: the route isn't metered. */
  of(handler: () => unknown, controller: Type): HttpMeter<NestRequest> | undefined {
    const said = this.#reflector.getAllAndOverride<QuotaOfRoute | undefined>(QUOTA_OF_ROUTE, [handler, controller])
    if (said === undefined) return this.whole.options.operation === undefined ? undefined : this.whole
    if (said.operation === false) return undefined
    const meter = this.#known.get(said) ?? this.#made(said.operation, said.options)
    this.#known.set(said, meter)
    return meter
  }

  /** Whether the routes of a meter charge in a transaction. */
  isInTransaction(meter: HttpMeter<NestRequest>): boolean {
    return this.#inTransaction.has(meter)
  }

  #made(
    operation: string,
    { inTransaction = false, ...overrides }: QuotaOfRoute['options'] = {},
  ): HttpMeter<NestRequest> {
    if (!inTransaction) return this.whole.operation(operation, overrides)
    const meter = this.whole.inTransaction(operation, overrides)
    this.#inTransaction.add(meter)
    return meter
  }
}

Injectable()(QuotaMeters)
for (const [at, token] of [QUOTA_OPTIONS, DiscoveryService, Reflector].entries())
  Inject(token)(QuotaMeters, undefined, at)
