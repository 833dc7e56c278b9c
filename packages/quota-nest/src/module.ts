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

/** Provides the engine. */
const QUOTA: unique symbol = Symbol('the engine of QuotaModule')

/** Injects the module's engine into a constructor parameter or a property. */
export function InjectQuota(): PropertyDecorator & ParameterDecorator {
  return Inject(QUOTA)
}

/** Refunds what isn't settled of a request whose handler failed, whether or not its caller is still connected. */
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
 * Nest module that meters routes: each as the operation that `@Quota()` names, on Express and on Fastify. Global: it is
 * imported once.
 *
 * A request is charged before its handler and settled by the status of its response: below 400 it stays charged, from
 * 400 on the tokens go back before the head leaves. A refused request ends with a {@link QuotaException}: 429.
 *
 * @example
 * \@Module({ imports: [QuotaModule.forRoot({ quota, subject: (request: Request) => request.user?.id })] })
 * class AppModule {}
 */
// biome-ignore lint/complexity/noStaticOnlyClass: a module of Nest is a class
export class QuotaModule {
  /** With faulty options the app does not start: {@link QuotaError} `invalid_options` naming every fault. */
  static forRoot<
    Request extends object = NestRequest,
    Operation extends string = string,
    C extends Counting = Counting,
  >(options: QuotaModuleOptions<Request, Operation, C>): DynamicModule {
    return moduleOf({ provide: QUOTA_OPTIONS, useValue: options })
  }

  /**
   * The same with options that are made of what the app provides.
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
