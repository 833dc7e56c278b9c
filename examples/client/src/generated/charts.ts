// Written by `npm run client:types`: do not edit.

export interface paths {
    "/healthz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Whether the process is alive
         * @description For process supervisors. It contacts no store.
         *
         *     Free.
         */
        get: operations["alive"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/readyz": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Whether the stores are available
         * @description For load balancers: 503 while a store is unavailable, and while the service is stopping.
         *
         *     Free.
         */
        get: operations["ready"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/charts": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * All charts, page by page
         * @description Free.
         */
        get: operations["listCharts"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/charts/{chartKey}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * One chart
         * @description Free.
         */
        get: operations["readChart"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * This document
         * @description OpenAPI 3.1, for reference pages and client generators.
         *
         *     Free.
         */
        get: operations["openApi"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        AliveAnswer: {
            /** @constant */
            status: "alive";
        };
        ReadyAnswer: {
            /** @constant */
            status: "ready";
        };
        ListChartsAnswer: {
            items: components["schemas"]["Chart"][];
            total: number;
            page: number;
            limit: number;
        };
        Chart: {
            chartKey: string;
            /** @description standard and DX music share one id */
            songId: number;
            /** @enum {string} */
            kind: "standard" | "dx" | "utage";
            /** @description Basic, Advanced, Expert, Master, Re:Master, utage */
            difficulty: number;
            /** @description the gateway's id of the music */
            musicId: number;
            title: string;
            artist: string | null;
            charter: string | null;
            /** @description the difficulty as players write it: `13+` */
            level: string | null;
            /** @description the exact difficulty */
            constant: number | null;
            notes: number | null;
            noteCounts: {
                taps: number;
                holds: number;
                slides: number;
                touches: number;
                breaks: number;
            } | null;
            dxScoreMax: number | null;
        };
        OpenApiAnswer: {
            openapi: string;
        } & {
            [key: string]: unknown;
        };
        Error: {
            /** @description What went wrong. */
            message: string;
        };
    };
    responses: {
        /** @description `bad_request`: The request is malformed, for example invalid JSON. */
        BadRequest: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `internal_error`: Something went wrong on our side. */
        InternalError: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description `overloaded`: Too many requests of the caller are in flight. Nothing was charged.
         *
         *     `shutting_down`: The service is stopping. Another process may be available soon.
         */
        OverloadedOrShuttingDown: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /**
         * @description `quota_unavailable`: A required store is unavailable. Nothing was charged.
         *
         *     `overloaded`: Too many requests of the caller are in flight. Nothing was charged.
         *
         *     `shutting_down`: The service is stopping. Another process may be available soon.
         */
        QuotaUnavailableOrOverloadedOrShuttingDown: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "Retry-After": components["headers"]["Retry-After"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `unauthorized`: The credential is missing or invalid. */
        Unauthorized: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                "WWW-Authenticate": components["headers"]["WWW-Authenticate"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `validation_failed`: The content is invalid. `details` lists all faults. */
        ValidationFailed: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
        /** @description `not_found`: This path does not exist. */
        NotFound: {
            headers: {
                "X-Request-Id": components["headers"]["X-Request-Id"];
                [name: string]: unknown;
            };
            content: {
                "application/json": components["schemas"]["Error"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: {
        /** @description The request's id in our log: the one that the client sent, or a new one. */
        "X-Request-Id": string;
        /** @description Whole seconds to wait before retrying. */
        "Retry-After": number;
        /** @description The required credential. */
        "WWW-Authenticate": string;
    };
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    alive: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AliveAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["OverloadedOrShuttingDown"];
        };
    };
    ready: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ReadyAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    listCharts: {
        parameters: {
            query?: {
                /** @description from 1 on */
                page?: number;
                /** @description charts a page */
                limit?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ListChartsAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    readChart: {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description `songId:kind:difficulty`, for example `101:standard:4`; difficulty 1 to 6 */
                chartKey: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Chart"];
                };
            };
            400: components["responses"]["BadRequest"];
            401: components["responses"]["Unauthorized"];
            404: components["responses"]["NotFound"];
            422: components["responses"]["ValidationFailed"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["QuotaUnavailableOrOverloadedOrShuttingDown"];
        };
    };
    openApi: {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done. */
            200: {
                headers: {
                    "X-Request-Id": components["headers"]["X-Request-Id"];
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OpenApiAnswer"];
                };
            };
            400: components["responses"]["BadRequest"];
            500: components["responses"]["InternalError"];
            503: components["responses"]["OverloadedOrShuttingDown"];
        };
    };
}
