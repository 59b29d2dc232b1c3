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
      "latency_ms": 117,
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
          "updated_at": "2026-11-17T02:38:11.331Z"
        },
        {
          "label": "TASK.deadline",
          "value": "2026-12-01",
          "channel": 23,
          "revision": 3,
          "updated_at": "2026-11-17T02:38:11.331Z"
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
          "updated_at": "2026-11-17T02:38:12.420Z"
        },
        {
          "revision": 5,
          "value": "ripgrep; jq",
          "updated_at": "2026-11-17T02:38:12.370Z",
          "ended": "replaced",
          "ended_at": "2026-11-17T02:38:12.420Z"
        },
        {
          "revision": 4,
          "value": "ripgrep",
          "updated_at": "2026-11-17T02:38:12.340Z",
          "ended": "replaced",
          "ended_at": "2026-11-17T02:38:12.370Z"
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
          "revision": 7,
          "at": "2026-11-17T02:38:12.452Z"
        },
        {
          "label": "PREF.tools",
          "kind": "written",
          "value": "ripgrep",
          "revision": 6,
          "at": "2026-11-17T02:38:12.420Z"
        }
      ],
      "next_cursor": "MTc5NDg4MzA5MjQyMCA2IHdyaXR0ZW4"
    }
  },
  "rollback": {
    "body": {
      "user_id": "ada",
      "to": "2026-11-17T02:38:12.468Z",
      "dry_run": true
    },
    "status": 200,
    "answer": {
      "status": "planned",
      "changes": [],
      "unreached": []
    }
  },
  "users": {
    "status": 200,
    "answer": {
      "users": [
        {
          "user_id": "ada",
          "projects": [],
          "channel_count": 3,
          "updated_at": "2026-11-17T02:38:12.452Z"
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
    "answer": "{\"kind\":\"user\",\"account\":\"acme\",\"user_id\":\"ada\",\"facts\":[{\"label\":\"USER.name\",\"value\":\"Ada Lovelace\",\"channel\":0,\"revision\":2,\"updated_at\":\"2026-11-17T02:38:11.331Z\"},{\"label\":\"PREF.tools\",\"value\":\"ripgrep; jq\",\"channel\":16,\"revision\":7,\"updated_at\":\"2026-11-17T02:38:12.452Z\",\"ordinal\":4},{\"label\":\"TASK.deadline\",\"value\":\"2026-12-01\",\"channel\":23,\"revision\":3,\"updated_at\":\"2026-11-17T02:38:11.331Z\",\"since\":\"2026-11-17T02:38:11.183Z\"}],\"earlier\":[{\"label\":\"PREF.tools\",\"value\":\"ripgrep\",\"channel\":16,\"revision\":4,\"updated_at\":\"2026-11-17T02:38:12.340Z\",\"ended\":\"replaced\",\"ended_at\":\"2026-11-17T02:38:12.370Z\"},{\"label\":\"PREF.tools\",\"value\":\"ripgrep; jq\",\"channel\":16,\"revision\":5,\"updated_at\":\"2026-11-17T02:38:12.370Z\",\"ordinal\":2,\"ended\":\"replaced\",\"ended_at\":\"2026-11-17T02:38:12.420Z\"},{\"label\":\"PREF.tools\",\"value\":\"ripgrep\",\"channel\":16,\"revision\":6,\"updated_at\":\"2026-11-17T02:38:12.420Z\",\"ordinal\":3,\"ended\":\"replaced\",\"ended_at\":\"2026-11-17T02:38:12.452Z\"}]}\n"
  },
  "events": {
    "query": {
      "user_id": "ada"
    },
    "status": 200,
    "answer": "id: ac0aea99-1\nevent: change\ndata: {\"user_id\":\"ada\",\"project\":null,\"label\":\"TASK.deadline\",\"revision\":8,\"kind\":\"written\",\"written_by\":\"claude-code\",\"at\":\"2026-11-17T02:38:12.542Z\"}\n\n"
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
      "hidden": false
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
      "max_bytes": 100
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
      "expires_at": "2026-11-17T03:38:12.727Z"
    }
  },
  "usage": {
    "status": 200,
    "answer": {
      "account": "acme",
      "tier": "pro",
      "limit": 50000,
      "used": 10,
      "remaining": 49990,
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
          "count": 10
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
      "latency_ms": 130,
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
      "id": "7907dceb627c44d7",
      "account": "navy",
      "tier": "pro",
      "prefix": "sb_live_…",
      "note": "Grace",
      "user": null,
      "access": "write",
      "created_at": "2026-11-17T02:38:13.389Z",
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
          "id": "7907dceb627c44d7",
          "account": "navy",
          "tier": "pro",
          "prefix": "sb_live_…",
          "note": "Grace",
          "user": null,
          "access": "write",
          "created_at": "2026-11-17T02:38:13.389Z",
          "expires_at": null,
          "revoked_at": null,
          "last_used_at": null
        }
      ]
    }
  },
  "adminExpireKey": {
    "params": {
      "id": "7907dceb627c44d7"
    },
    "body": {
      "expires_at": "2027-01-31T23:59:59.000Z"
    },
    "status": 200,
    "answer": {
      "id": "7907dceb627c44d7",
      "account": "navy",
      "tier": "pro",
      "prefix": "sb_live_…",
      "note": "Grace",
      "user": null,
      "access": "write",
      "created_at": "2026-11-17T02:38:13.389Z",
      "expires_at": "2027-01-31T23:59:59.000Z",
      "revoked_at": null,
      "last_used_at": null
    }
  },
  "adminRevokeKey": {
    "params": {
      "id": "7907dceb627c44d7"
    },
    "status": 200,
    "answer": {
      "id": "7907dceb627c44d7",
      "account": "navy",
      "tier": "pro",
      "prefix": "sb_live_…",
      "note": "Grace",
      "user": null,
      "access": "write",
      "created_at": "2026-11-17T02:38:13.389Z",
      "expires_at": "2027-01-31T23:59:59.000Z",
      "revoked_at": "2026-11-17T02:38:13.430Z",
      "last_used_at": null
    }
  },
  "adminAccounts": {
    "status": 200,
    "answer": {
      "accounts": [
        {
          "account": "acme",
          "created_at": "2026-11-17T02:38:10.973Z",
          "keys": 1
        },
        {
          "account": "navy",
          "created_at": "2026-11-17T02:38:13.389Z",
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
          "projects": [],
          "channel_count": 3,
          "updated_at": "2026-11-17T02:38:12.542Z"
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
          "max_bytes": 100
        }
      ],
      "free": 215
    }
  },
  "adminUsage": {
    "status": 200,
    "answer": {
      "from": "2026-10-18",
      "to": "2026-11-17",
      "keys": [
        {
          "key_id": "fdca7859b77147aa",
          "account": "acme",
          "tier": "pro",
          "limit": 50000,
          "used_this_month": 10,
          "days": [
            {
              "day": "2026-11-17",
              "count": 10
            }
          ]
        },
        {
          "key_id": "7907dceb627c44d7",
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
          "id": "3d48f888ab464d2d",
          "name": "Grace Hopper",
          "email": "grace@navy.example",
          "purpose": "An assistant that remembers.",
          "tier": "free",
          "status": "approved",
          "created_at": "2026-11-17T02:38:13.456Z",
          "decided_at": "2026-11-17T02:38:13.476Z",
          "key_id": "1d57d5dbcc1d47e0"
        },
        {
          "id": "74f86281cc8a4870",
          "name": "Grace Hopper",
          "email": "grace@navy.example",
          "purpose": "An assistant that remembers.",
          "tier": "free",
          "status": "declined",
          "created_at": "2026-11-17T02:38:13.500Z",
          "decided_at": "2026-11-17T02:38:13.522Z",
          "key_id": null
        },
        {
          "id": "607763a3b83f423c",
          "name": "Grace Hopper",
          "email": "grace@navy.example",
          "purpose": "An assistant that remembers.",
          "tier": "free",
          "status": "open",
          "created_at": "2026-11-17T02:38:13.556Z",
          "decided_at": null,
          "key_id": null
        }
      ]
    }
  },
  "adminApprove": {
    "params": {
      "id": "3d48f888ab464d2d"
    },
    "body": {
      "account": "hopper"
    },
    "status": 201,
    "answer": {
      "key": "sb_live_…",
      "id": "1d57d5dbcc1d47e0",
      "account": "hopper",
      "tier": "free",
      "prefix": "sb_live_…",
      "note": "Grace Hopper <grace@navy.example>",
      "user": null,
      "access": "write",
      "created_at": "2026-11-17T02:38:13.476Z",
      "expires_at": null,
      "revoked_at": null,
      "last_used_at": null
    }
  },
  "adminDecline": {
    "params": {
      "id": "74f86281cc8a4870"
    },
    "status": 200,
    "answer": {
      "id": "74f86281cc8a4870",
      "name": "Grace Hopper",
      "email": "grace@navy.example",
      "purpose": "An assistant that remembers.",
      "tier": "free",
      "status": "declined",
      "created_at": "2026-11-17T02:38:13.500Z",
      "decided_at": "2026-11-17T02:38:13.522Z",
      "key_id": null
    }
  },
  "adminDeleteRequest": {
    "params": {
      "id": "607763a3b83f423c"
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
      "process_id": 23729,
      "started_at": "2026-11-17T02:38:10.954Z",
      "ready": true,
      "store": {
        "facts": 3,
        "users": 1,
        "size_bytes": 90112
      },
      "demo": {
        "labels": [],
        "resets_in_s": 407
      },
      "recent_errors": [],
      "recent_requests": [
        {
          "at": "2026-11-17T02:38:12.731Z",
          "method": "GET",
          "route": "/usage/days",
          "status": 200,
          "account": "acme",
          "key_id": "fdca7859b77147aa",
          "request_id": "JtX6Wvs4-r"
        },
        {
          "at": "2026-11-17T02:38:12.730Z",
          "method": "GET",
          "route": "/usage",
          "status": 200,
          "account": "acme",
          "key_id": "fdca7859b77147aa",
          "request_id": "JtX6Wvs4-q"
        },
        {
          "at": "2026-11-17T02:38:12.728Z",
          "method": "POST",
          "route": "/tokens",
          "status": 200,
          "account": "acme",
          "key_id": "fdca7859b77147aa",
          "request_id": "JtX6Wvs4-p"
        }
      ]
    }
  }
};
