//! The permissions of a run: exactly what the program requests, as a Role and as questions to the API server.

use serde_json::{Value, json};

/// A permission in the namespace.
#[derive(Clone, Copy, Debug)]
pub struct Permission {
    /// The API group; empty for the core.
    pub group: &'static str,
    /// The kind of objects.
    pub resource: &'static str,
    /// The actions on them.
    pub verbs: &'static [&'static str],
    /// The purpose, for people.
    pub purpose: &'static str,
    /// Whether no run is possible without it.
    pub is_needed: bool,
}

/// The permissions of a run.
pub const PERMISSIONS: &[Permission] = &[
    Permission {
        group: "batch",
        resource: "jobs",
        verbs: &["create", "get", "delete"],
        purpose: "start, watch and remove agents",
        is_needed: true,
    },
    Permission {
        group: "",
        resource: "secrets",
        verbs: &["create", "delete"],
        purpose: "hand agents their token",
        is_needed: true,
    },
    Permission {
        group: "",
        resource: "pods",
        verbs: &["list"],
        purpose: "see the state of agents",
        is_needed: true,
    },
    Permission {
        group: "",
        resource: "events",
        verbs: &["list"],
        purpose: "name what keeps agents from starting",
        is_needed: false,
    },
    Permission {
        group: "",
        resource: "resourcequotas",
        verbs: &["list"],
        purpose: "compare the quota with the plan (doctor only)",
        is_needed: false,
    },
];

/// The permission that a user needs besides, to start the hub in a pod.
pub const HUB_PERMISSION: Permission = Permission {
    group: "",
    resource: "pods/proxy",
    verbs: &["create"],
    purpose: "hand the hub its test, and read its log and its run file",
    is_needed: true,
};

/// The holder of the permissions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Subject {
    /// A user, as the cluster's authentication names it.
    User(String),
    /// A service account of the namespace, for a hub that runs in a pod.
    ServiceAccount(String),
}

/// The Role and its RoleBinding, and before them the service accounts among the holders.
pub fn role(namespace: &str, subjects: &[Subject]) -> Vec<(&'static str, Value)> {
    let accounts = subjects.iter().filter_map(|subject| match subject {
        Subject::User(_) => None,
        Subject::ServiceAccount(name) => {
            let metadata = json!({"name": name, "namespace": namespace});
            let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata});
            Some(("The account of a pod that runs the hub.", account))
        }
    });
    let text = "The least permissions of `plimsoll run --kubernetes` and `plimsoll doctor --kubernetes`.";
    accounts.chain(granted(namespace, "plimsoll", (text, PERMISSIONS), subjects)).collect()
}

/// The same for a user who starts the hub in a pod with this account: both get the permissions, and the user one more.
pub fn roles_with_hub(namespace: &str, user: &Subject, account: &str) -> Vec<(&'static str, Value)> {
    let both = [user.clone(), Subject::ServiceAccount(account.to_owned())];
    let more = ("The permission for `--hub-in-cluster`.", &[HUB_PERMISSION][..]);
    let more = granted(namespace, "plimsoll-hub", more, std::slice::from_ref(user));
    role(namespace, &both).into_iter().chain(more).collect()
}

/// A Role with its RoleBinding.
fn granted(
    namespace: &str,
    name: &str,
    (text, permissions): (&'static str, &[Permission]),
    subjects: &[Subject],
) -> [(&'static str, Value); 2] {
    let rule =
        |it: &Permission| json!({"apiGroups": [it.group], "resources": [it.resource], "verbs": it.verbs});
    let rules: Vec<Value> = permissions.iter().map(rule).collect();
    let metadata = json!({"name": name, "namespace": namespace});
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": metadata,
        "rules": rules,
    });
    let holder = |subject: &Subject| match subject {
        Subject::User(name) => json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": name}),
        Subject::ServiceAccount(name) => {
            json!({"kind": "ServiceAccount", "name": name, "namespace": namespace})
        }
    };
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name},
        "subjects": subjects.iter().map(holder).collect::<Vec<_>>(),
    });
    [(text, role), ("Grants them.", binding)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_role_grants_what_is_requested_and_no_more() {
        let documents = role("load", &[Subject::User("ann".to_owned())]);
        let rules = documents[0].1["rules"].as_array().expect("rules");
        let text = serde_json::to_string(rules).expect("JSON");
        assert!(
            rules.len() == PERMISSIONS.len() && !text.contains('*') && !text.contains("update"),
            "{text}"
        );
        assert_eq!(documents[1].1["subjects"][0]["name"], "ann");
        let documents = role("load", &[Subject::ServiceAccount("hub".to_owned())]);
        assert_eq!(documents[0].1["kind"], "ServiceAccount");
        assert_eq!(documents[2].1["subjects"][0]["kind"], "ServiceAccount");
        let documents = roles_with_hub("load", &Subject::User("ann".to_owned()), "hub");
        assert_eq!(documents[2].1["subjects"].as_array().map(Vec::len), Some(2));
        assert_eq!(documents[3].1["rules"][0]["resources"][0], "pods/proxy");
        assert_eq!(documents[4].1["subjects"].as_array().map(Vec::len), Some(1), "the pod does not get it");
    }
}
