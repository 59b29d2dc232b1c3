/** Requests and the answers of a real service. Made by npm run examples; not edited by hand. */

import type { OperationExample } from "./operation.ts";
import type { OperationId } from "./operations.ts";

export const OPERATION_EXAMPLES: Readonly<Record<OperationId, OperationExample>> = {
  "encode": {
    "body": {
      "user_id": "ada",
      "label": "TASK.deadline",
      "value": "2026-12-01"
    },
    "status": 200,
    "answer": {
      "status": "ok",
      "label": "TASK.deadline",
      "value": "2026-12-01",
      "channel": 23,
      "channel_count": 1
    }
  },
  "encodeBatch": {
    "body": {
      "user_id": "ada",
      "facts": [
        {
          "label": "USER.name",
          "value": "Ada Lovelace"
        },
        {
          "label": "TASK.deadline",
          "value": "2026-12-01"
        }
      ]
    },
    "status": 200,
    "answer": {
      "status": "ok",
      "channel_count": 2,
      "facts": [
        {
          "label": "USER.name",
          "value": "Ada Lovelace",
          "channel": 0
        },
        {
          "label": "TASK.deadline",
          "value": "2026-12-01",
          "channel": 23
        }
      ]
    }
  },
  "context": {
    "query": {
      "user_id": "ada"
    },
    "status": 200,
    "answer": {
      "user_id": "ada",
      "fdm_block": "[MEM] fonts upgrade formulation bones … massage [/MEM]",
      "channel_count": 2,
      "channel_labels": [
        "USER.name",
        "TASK.deadline"
      ],
      "plain_index": "USER.name=Ada Lovelace\nTASK.deadline=2026-12-01"
    }
  },
  "decode": {
    "query": {
      "user_id": "ada",
      "label": "TASK.deadline"
    },
    "status": 200,
    "answer": {
      "user_id": "ada",
      "label": "TASK.deadline",
      "value": "2026-12-01",
      "source": "state",
      "latency_ms": 0
    }
  },
  "decodeModel": {
    "query": {
      "user_id": "ada",
      "label": "TASK.deadline"
    },
    "status": 200,
    "answer": {
      "user_id": "ada",
      "label": "TASK.deadline",
      "value": "2026-12-01",
      "source": "model",
      "latency_ms": 723,
      "verified": true
    }
  },
  "flush": {
    "body": {
      "user_id": "ada"
    },
    "status": 200,
    "answer": {
      "status": "ok",
      "channel_count": 2,
      "lossless": true,
      "fdm_block": "[MEM] fonts upgrade formulation bones … massage [/MEM]",
      "overflow": []
    }
  },
  "read": {
    "body": {
      "user_id": "ada",
      "block": "[MEM] fonts upgrade formulation bones … massage [/MEM]"
    },
    "status": 200,
    "answer": {
      "status": "ok",
      "user_id": "ada",
      "facts": [
        {
          "label": "USER.name",
          "value": "Ada Lovelace",
          "channel": 0,
          "mark": "current"
        },
        {
          "label": "TASK.deadline",
          "value": "2026-12-01",
          "channel": 23,
          "mark": "current"
        }
      ],
      "missing": 0,
      "wrong": 0,
      "repaired": 0,
      "guard_left": 495
    }
  },
  "facts": {
    "query": {
      "user_id": "ada"
    },
    "status": 200,
    "answer": {
      "user_id": "ada",
      "channel_count": 2,
      "facts": [
        {
          "label": "USER.name",
          "value": "Ada Lovelace",
          "channel": 0,
          "revision": 2,
          "updated_at": "2026-11-17T06:50:19.072Z"
        },
        {
          "label": "TASK.deadline",
          "value": "2026-12-01",
          "channel": 23,
          "revision": 3,
          "updated_at": "2026-11-17T06:50:19.072Z"
        }
      ]
    }
  },
  "append": {
    "body": {
      "user_id": "ada",
      "label": "PREF.tools",
      "item": "ripgrep"
    },
    "status": 200,
    "answer": {
      "status": "ok",
      "label": "PREF.tools",
      "value": "ripgrep",
      "channel": 16,
      "channel_count": 3
    }
  },
  "remove": {
    "body": {
      "user_id": "ada",
      "label": "PREF.tools",
      "item": "jq"
    },
    "status": 200,
    "answer": {
      "status": "ok",
      "label": "PREF.tools",
      "value": "ripgrep",
      "channel": 16,
      "channel_count": 3
    }
  },
  "history": {
    "query": {
      "user_id": "ada",
      "label": "PREF.tools"
    },
    "status": 200,
    "answer": {
      "user_id": "ada",
      "label": "PREF.tools",
      "place": "person",
      "revisions": [
        {
          "revision": 6,
          "value": "ripgrep",
          "updated_at": "2026-11-17T06:50:22.649Z"
        },
        {
          "revision": 5,
          "value": "ripgrep; jq",
          "updated_at": "2026-11-17T06:50:22.590Z",
          "ended": "replaced",
          "ended_at": "2026-11-17T06:50:22.649Z"
        },
        {
          "revision": 4,
          "value": "ripgrep",
          "updated_at": "2026-11-17T06:50:22.496Z",
          "ended": "replaced",
          "ended_at": "2026-11-17T06:50:22.590Z"
        }
      ]
    }
  },
  "restore": {
    "body": {
      "user_id": "ada",
      "label": "PREF.tools",
      "revision": 5
    },
    "status": 200,
    "answer": {
      "status": "ok",
      "label": "PREF.tools",
      "value": "ripgrep; jq",
      "channel": 16,
      "channel_count": 3
    }
  },
  "changes": {
    "query": {
      "user_id": "ada",
      "limit": "2"
    },
    "status": 200,
    "answer": {
      "user_id": "ada",
      "changes": [
        {
          "label": "PREF.tools",
          "kind": "written",
          "value": "ripgrep; jq",
          "was": "ripgrep",
          "revision": 7,
          "at": "2026-11-17T06:50:22.738Z"
        },
        {
          "label": "PREF.tools",
          "kind": "written",
          "value": "ripgrep",
          "was": "ripgrep; jq",
          "revision": 6,
          "at": "2026-11-17T06:50:22.649Z"
        }
      ],
      "next_cursor": "MTc5NDg5ODIyMjY0OSA2IHdyaXR0ZW4"
    }
  },
  "rollback": {
    "body": {
      "user_id": "ada",
      "to": "2026-11-17T06:50:22.821Z",
      "dry_run": true
    },
    "status": 200,
    "answer": {
      "status": "planned",
      "changes": [],
      "unreached": []
    }
  },
  "moveProject": {
    "body": {
      "user_id": "ada",
      "from": "loom-old",
      "to": "loom-3f2a9c81d04e"
    },
    "status": 200,
    "answer": {
      "status": "ok",
      "moved": 1
    }
  },
  "users": {
    "status": 200,
    "answer": {
      "users": [
        {
          "user_id": "ada",
          "projects": [
            "loom-3f2a9c81d04e"
          ],
          "channel_count": 3,
          "updated_at": "2026-11-17T06:50:22.889Z"
        }
      ],
      "next_cursor": null
    }
  },
  "export": {
    "query": {
      "user_id": "ada"
    },
    "status": 200,
    "answer": "{\"kind\":\"user\",\"account\":\"acme\",\"user_id\":\"ada\",\"facts\":[{\"label\":\"USER.name\",\"value\":\"Ada Lovelace\",\"channel\":0,\"revision\":2,\"updated_at\":\"2026-11-17T06:50:19.072Z\"},{\"label\":\"PREF.tools\",\"value\":\"ripgrep; jq\",\"channel\":16,\"revision\":7,\"updated_at\":\"2026-11-17T06:50:22.738Z\",\"ordinal\":4},{\"label\":\"TASK.deadline\",\"value\":\"2026-12-01\",\"channel\":23,\"revision\":3,\"updated_at\":\"2026-11-17T06:50:19.072Z\",\"since\":\"2026-11-17T06:50:18.425Z\"},{\"label\":\"TASK.deadline\",\"value\":\"2026-12-01\",\"channel\":23,\"revision\":9,\"updated_at\":\"2026-11-17T06:50:22.889Z\",\"place\":\"loom-3f2a9c81d04e\"}],\"earlier\":[{\"label\":\"PREF.tools\",\"value\":\"ripgrep\",\"channel\":16,\"revision\":4,\"updated_at\":\"2026-11-17T06:50:22.496Z\",\"ended\":\"replaced\",\"ended_at\":\"2026-11-17T06:50:22.590Z\"},{\"label\":\"PREF.tools\",\"value\":\"ripgrep; jq\",\"channel\":16,\"revision\":5,\"updated_at\":\"2026-11-17T06:50:22.590Z\",\"ordinal\":2,\"ended\":\"replaced\",\"ended_at\":\"2026-11-17T06:50:22.649Z\"},{\"label\":\"PREF.tools\",\"value\":\"ripgrep\",\"channel\":16,\"revision\":6,\"updated_at\":\"2026-11-17T06:50:22.649Z\",\"ordinal\":3,\"ended\":\"replaced\",\"ended_at\":\"2026-11-17T06:50:22.738Z\"}]}\n"
  },
  "events": {
    "query": {
      "user_id": "ada"
    },
    "status": 200,
    "answer": "id: 61b5685c-1\nevent: change\ndata: {\"user_id\":\"ada\",\"project\":null,\"label\":\"TASK.deadline\",\"revision\":11,\"kind\":\"written\",\"written_by\":\"claude-code\",\"at\":\"2026-11-17T06:50:23.130Z\"}\n\n"
  },
  "addLabel": {
    "body": {
      "label": "FAMILY.wife",
      "description": "What the user's wife is called",
      "example": "Chidi"
    },
    "status": 201,
    "answer": {
      "channel": 40,
      "label": "FAMILY.wife",
      "description": "What the user's wife is called",
      "example": "Chidi",
      "own": true,
      "scope": "person",
      "hidden": false,
      "created_at": "2026-11-18T04:29:07.608Z",
      "created_key": "sb_live_…"
    }
  },
  "changeLabel": {
    "params": {
      "label": "FAMILY.wife"
    },
    "body": {
      "max_bytes": 100
    },
    "status": 200,
    "answer": {
      "channel": 40,
      "label": "FAMILY.wife",
      "description": "What the user's wife is called",
      "example": "Chidi",
      "own": true,
      "scope": "person",
      "hidden": false,
      "max_bytes": 100,
      "created_at": "2026-11-18T04:29:07.608Z",
      "created_key": "sb_live_…"
    }
  },
  "removeLabel": {
    "params": {
      "label": "FAMILY.dog"
    },
    "status": 200,
    "answer": {
      "status": "ok"
    }
  },
  "forgetFact": {
    "query": {
      "user_id": "a-user-to-forget",
      "label": "TASK.deadline"
    },
    "status": 200,
    "answer": {
      "status": "ok",
      "channel_count": 1
    }
  },
  "forgetUser": {
    "query": {
      "user_id": "a-user-to-forget"
    },
    "status": 200,
    "answer": {
      "status": "ok"
    }
  },
  "createToken": {
    "body": {
      "user_id": "ada",
      "access": "read",
      "ttl_s": 3600
    },
    "status": 200,
    "answer": {
      "token": "sbt_…",
      "expires_at": "2026-11-17T07:50:23.482Z"
    }
  },
  "usage": {
    "status": 200,
    "answer": {
      "account": "acme",
      "tier": "pro",
      "limit": 50000,
      "used": 11,
      "remaining": 49989,
      "resets_at": "2026-12-01T00:00:00.000Z"
    }
  },
  "usageDays": {
    "status": 200,
    "answer": {
      "from": "2026-10-18",
      "to": "2026-11-17",
      "days": [
        {
          "day": "2026-11-17",
          "count": 11
        }
      ]
    }
  },
  "demoEncode": {
    "body": {
      "label": "TASK.deadline",
      "value": "2026-12-01"
    },
    "status": 200,
    "answer": {
      "status": "ok",
      "label": "TASK.deadline",
      "value": "2026-12-01",
      "channel": 23,
      "channel_count": 1
    }
  },
  "demoContext": {
    "status": 200,
    "answer": {
      "user_id": "demo",
      "fdm_block": "[MEM] lis varieties travelers Venezuela … deadline [/MEM]",
      "channel_count": 1,
      "channel_labels": [
        "TASK.deadline"
      ],
      "plain_index": "TASK.deadline=2026-12-01"
    }
  },
  "demoDecode": {
    "query": {
      "label": "TASK.deadline",
      "use_model": "true"
    },
    "status": 200,
    "answer": {
      "user_id": "demo",
      "label": "TASK.deadline",
      "value": "2026-12-01",
      "source": "model",
      "latency_ms": 209,
      "verified": true
    }
  },
  "demoFlush": {
    "status": 200,
    "answer": {
      "status": "ok",
      "channel_count": 1,
      "lossless": true,
      "fdm_block": "[MEM] lis varieties travelers Venezuela … deadline [/MEM]",
      "overflow": []
    }
  },
  "demoRead": {
    "body": {
      "block": "[MEM] lis varieties travelers Venezuela … deadline [/MEM]"
    },
    "status": 200,
    "answer": {
      "status": "ok",
      "user_id": "demo",
      "facts": [
        {
          "label": "TASK.deadline",
          "value": "2026-12-01",
          "channel": 23,
          "mark": "current"
        }
      ],
      "missing": 0,
      "wrong": 0,
      "repaired": 0,
      "guard_left": 497
    }
  },
  "demoKey": {
    "status": 200,
    "answer": {
      "user_id": "demo",
      "keys": [
        {
          "key_id": 1,
          "material": "…"
        }
      ],
      "versions": [
        7,
        1
      ]
    }
  },
  "demoForget": {
    "query": {
      "label": "TASK.deadline"
    },
    "status": 200,
    "answer": {
      "status": "ok",
      "channel_count": 0
    }
  },
  "demoReset": {
    "status": 200,
    "answer": {
      "status": "ok",
      "channel_count": 0
    }
  },
  "channels": {
    "status": 200,
    "answer": {
      "channels": [
        {
          "channel": 0,
          "label": "USER.name",
          "description": "What the user is called",
          "example": "Ada Okafor"
        },
        {
          "channel": 1,
          "label": "USER.project",
          "description": "The project the user works on",
          "example": "Sideband"
        },
        {
          "channel": 2,
          "label": "USER.affiliation",
          "description": "Company, university or team",
          "example": "Delft University of Technology"
        }
      ]
    }
  },
  "openapi": {
    "status": 200,
    "answer": {
      "openapi": "3.1.0",
      "info": {
        "title": "Sideband",
        "version": "0.1.0",
        "summary": "Persistent fact memory for AI agents",
        "description": "Facts are written by label onto 40 channels per user and handed back one by one, or together, as many as fit, as one sealed block of 512 tokens. Every path also exists under /v1."
      }
    }
  },
  "health": {
    "status": 200,
    "answer": {
      "status": "ok"
    }
  },
  "ready": {
    "status": 200,
    "answer": {
      "status": "ready"
    }
  },
  "metrics": {
    "status": 200,
    "answer": "# HELP sideband_corrupt_records_total Reads that met a record which fails its checksum.\n# TYPE sideband_corrupt_records_total counter\n…"
  },
  "adminCreateKey": {
    "body": {
      "account": "navy",
      "tier": "pro",
      "note": "Grace"
    },
    "status": 201,
    "answer": {
      "key": "sb_live_…",
      "id": "8878503c5652472c",
      "account": "navy",
      "tier": "pro",
      "prefix": "sb_live_…",
      "note": "Grace",
      "user": null,
      "access": "write",
      "created_at": "2026-11-17T06:50:25.879Z",
      "expires_at": null,
      "revoked_at": null,
      "last_used_at": null
    }
  },
  "adminKeys": {
    "query": {
      "account": "navy"
    },
    "status": 200,
    "answer": {
      "keys": [
        {
          "id": "8878503c5652472c",
          "account": "navy",
          "tier": "pro",
          "prefix": "sb_live_…",
          "note": "Grace",
          "user": null,
          "access": "write",
          "created_at": "2026-11-17T06:50:25.879Z",
          "expires_at": null,
          "revoked_at": null,
          "last_used_at": null
        }
      ]
    }
  },
  "adminExpireKey": {
    "params": {
      "id": "8878503c5652472c"
    },
    "body": {
      "expires_at": "2027-01-31T23:59:59.000Z"
    },
    "status": 200,
    "answer": {
      "id": "8878503c5652472c",
      "account": "navy",
      "tier": "pro",
      "prefix": "sb_live_…",
      "note": "Grace",
      "user": null,
      "access": "write",
      "created_at": "2026-11-17T06:50:25.879Z",
      "expires_at": "2027-01-31T23:59:59.000Z",
      "revoked_at": null,
      "last_used_at": null
    }
  },
  "adminRevokeKey": {
    "params": {
      "id": "8878503c5652472c"
    },
    "status": 200,
    "answer": {
      "id": "8878503c5652472c",
      "account": "navy",
      "tier": "pro",
      "prefix": "sb_live_…",
      "note": "Grace",
      "user": null,
      "access": "write",
      "created_at": "2026-11-17T06:50:25.879Z",
      "expires_at": "2027-01-31T23:59:59.000Z",
      "revoked_at": "2026-11-17T06:50:26.134Z",
      "last_used_at": null
    }
  },
  "adminAccounts": {
    "status": 200,
    "answer": {
      "accounts": [
        {
          "account": "acme",
          "created_at": "2026-11-17T06:50:17.437Z",
          "keys": 1
        },
        {
          "account": "navy",
          "created_at": "2026-11-17T06:50:25.879Z",
          "keys": 1
        }
      ]
    }
  },
  "adminUsers": {
    "query": {
      "account": "acme"
    },
    "status": 200,
    "answer": {
      "users": [
        {
          "user_id": "ada",
          "projects": [
            "loom-3f2a9c81d04e"
          ],
          "channel_count": 3,
          "updated_at": "2026-11-17T06:50:23.130Z"
        }
      ],
      "next_cursor": null
    }
  },
  "adminLabels": {
    "query": {
      "account": "acme"
    },
    "status": 200,
    "answer": {
      "labels": [
        {
          "channel": 40,
          "label": "FAMILY.wife",
          "description": "What the user's wife is called",
          "example": "Chidi",
          "own": true,
          "scope": "person",
          "hidden": false,
          "max_bytes": 100,
          "created_at": "2026-11-18T04:29:07.608Z",
          "created_key": "sb_live_…"
        }
      ],
      "free": 214
    }
  },
  "adminUsage": {
    "status": 200,
    "answer": {
      "from": "2026-10-18",
      "to": "2026-11-17",
      "keys": [
        {
          "key_id": "59f3d4242494487b",
          "account": "acme",
          "tier": "pro",
          "limit": 50000,
          "used_this_month": 11,
          "days": [
            {
              "day": "2026-11-17",
              "count": 11
            }
          ]
        },
        {
          "key_id": "8878503c5652472c",
          "account": "navy",
          "tier": "pro",
          "limit": 50000,
          "used_this_month": 0,
          "days": []
        }
      ]
    }
  },
  "requestKey": {
    "body": {
      "name": "Grace Hopper",
      "email": "grace@navy.example",
      "purpose": "An assistant that remembers."
    },
    "status": 202,
    "answer": {
      "status": "received"
    }
  },
  "adminKeyRequests": {
    "status": 200,
    "answer": {
      "requests": [
        {
          "id": "6a91c67a85404d3c",
          "name": "Grace Hopper",
          "email": "grace@navy.example",
          "purpose": "An assistant that remembers.",
          "tier": "free",
          "status": "approved",
          "created_at": "2026-11-17T06:50:26.272Z",
          "decided_at": "2026-11-17T06:50:26.302Z",
          "key_id": "98a74e6238174b36"
        },
        {
          "id": "b22d5c5da874402c",
          "name": "Grace Hopper",
          "email": "grace@navy.example",
          "purpose": "An assistant that remembers.",
          "tier": "free",
          "status": "declined",
          "created_at": "2026-11-17T06:50:26.348Z",
          "decided_at": "2026-11-17T06:50:26.375Z",
          "key_id": null
        },
        {
          "id": "82a79ef9f48d4909",
          "name": "Grace Hopper",
          "email": "grace@navy.example",
          "purpose": "An assistant that remembers.",
          "tier": "free",
          "status": "open",
          "created_at": "2026-11-17T06:50:26.396Z",
          "decided_at": null,
          "key_id": null
        }
      ]
    }
  },
  "adminApprove": {
    "params": {
      "id": "6a91c67a85404d3c"
    },
    "body": {
      "account": "hopper"
    },
    "status": 201,
    "answer": {
      "key": "sb_live_…",
      "id": "98a74e6238174b36",
      "account": "hopper",
      "tier": "free",
      "prefix": "sb_live_…",
      "note": "Grace Hopper <grace@navy.example>",
      "user": null,
      "access": "write",
      "created_at": "2026-11-17T06:50:26.302Z",
      "expires_at": null,
      "revoked_at": null,
      "last_used_at": null
    }
  },
  "adminDecline": {
    "params": {
      "id": "b22d5c5da874402c"
    },
    "status": 200,
    "answer": {
      "id": "b22d5c5da874402c",
      "name": "Grace Hopper",
      "email": "grace@navy.example",
      "purpose": "An assistant that remembers.",
      "tier": "free",
      "status": "declined",
      "created_at": "2026-11-17T06:50:26.348Z",
      "decided_at": "2026-11-17T06:50:26.375Z",
      "key_id": null
    }
  },
  "adminDeleteRequest": {
    "params": {
      "id": "82a79ef9f48d4909"
    },
    "status": 200,
    "answer": {
      "status": "ok"
    }
  },
  "adminStatus": {
    "status": 200,
    "answer": {
      "version": "0.1.0",
      "process_id": 27322,
      "started_at": "2026-11-17T06:50:17.377Z",
      "ready": true,
      "store": {
        "facts": 4,
        "users": 1,
        "size_bytes": 90112
      },
      "demo": {
        "labels": [],
        "resets_in_s": 574
      },
      "recent_errors": [],
      "recent_requests": [
        {
          "at": "2026-11-17T06:50:23.528Z",
          "method": "GET",
          "route": "/usage/days",
          "status": 200,
          "account": "acme",
          "key_id": "59f3d4242494487b",
          "request_id": "oJ0bPcXl-t"
        },
        {
          "at": "2026-11-17T06:50:23.517Z",
          "method": "GET",
          "route": "/usage",
          "status": 200,
          "account": "acme",
          "key_id": "59f3d4242494487b",
          "request_id": "oJ0bPcXl-s"
        },
        {
          "at": "2026-11-17T06:50:23.491Z",
          "method": "POST",
          "route": "/tokens",
          "status": 200,
          "account": "acme",
          "key_id": "59f3d4242494487b",
          "request_id": "oJ0bPcXl-r"
        }
      ]
    }
  }
};
