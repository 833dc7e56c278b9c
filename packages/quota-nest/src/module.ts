import {
  type CallHandler,
  type DynamicModule,
  type ExecutionContext,
  Inject,
  Injectable,
  type NestInterceptor,
  type Provider,
} from '@nestjs/common'
import { APP_INTERCEPTOR, DiscoveryModule } from '@nestjs/core'
import type { Counting } from '@scoregw/quota'
import { Exchange } from '@scoregw/quota/http'
import { catchError, type Observable } from 'rxjs'
import type { NestRequest } from './adapter.ts'
import { QuotaGuard } from './guard.ts'
import { QUOTA_OPTIONS, QuotaMeters } from './meters.ts'
import type { QuotaModuleAsyncOptions, QuotaModuleOptions } from './options.ts'

/** Injection token of the engine. */
const QUOTA: unique symbol = Symbol('the engine of QuotaModule')

/** Injects the module's engine into a constructor parameter or a property. */
export function InjectQuota(): PropertyDecorator & ParameterDecorator {
  return Inject(QUOTA)
}

/** Settles requests whose handler failed, even if the client has disconnected. */
class QuotaInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    return next.handle().pipe(
      catchError(async (error: unknown) => {
        if ((context.getType() as string) === 'http') {
          await Exchange.find(context.switchToHttp().getRequest<object>())?.fail()
        }
        throw error
      }),
    )
  }
}
Injectable()(QuotaInterceptor)

/**
 * Nest module that meters the routes with `@Quota()`, on Express and Fastify. It is global, so import it once.
 *
 * A request is charged before its handler. The status of the response settles it. Below 400 it stays charged. From 400
 * on it is refunded before the head is sent. A refused request throws {@link QuotaException} with status 429.
 *
 * @example
 * \@Module({ imports: [QuotaModule.forRoot({ quota, subject: (request: Request) => request.user?.id })] })
 * class AppModule {}
 */
// biome-ignore lint/complexity/noStaticOnlyClass: a module of Nest is a class
export class QuotaModule {
  /**
   * Takes the options directly. If they are faulty, the app fails to start with {@link QuotaError} `invalid_options`.
   */
  static forRoot<
    Request extends object = NestRequest,
    Operation extends string = string,
    C extends Counting = Counting,
  >(options: QuotaModuleOptions<Request, Operation, C>): DynamicModule {
    return moduleOf({ provide: QUOTA_OPTIONS, useValue: options })
  }

  /**
   * Takes options from a factory with injected providers.
   *
   * @example
   * QuotaModule.forRootAsync({ inject: [ConfigService], useFactory: (config: ConfigService) => ({ quota: quotaOf(config) }) })
   */
  static forRootAsync<Request extends object = NestRequest, Operation extends string = string>({
    imports = [],
    inject = [],
    useFactory,
  }: QuotaModuleAsyncOptions<Request, Operation>): DynamicModule {
    return moduleOf({ provide: QUOTA_OPTIONS, inject: [...inject], useFactory }, imports)
  }
}

function moduleOf(options: Provider, imports: DynamicModule['imports'] = []): DynamicModule {
  const engine = { provide: QUOTA, inject: [QUOTA_OPTIONS], useFactory: ({ quota }: QuotaModuleOptions) => quota }
  return {
    module: QuotaModule,
    global: true,
    imports: [...imports, DiscoveryModule],
    providers: [options, engine, QuotaMeters, QuotaGuard, { provide: APP_INTERCEPTOR, useClass: QuotaInterceptor }],
    exports: [QUOTA, QuotaMeters, QuotaGuard],
  }
}
